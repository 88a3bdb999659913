/** `deploy/nginx.conf` in front of the service (docs/install.md#ten-commands). */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../support/serving.ts';
import { testProxy } from './behind-proxy.ts';
import { readDeployed, replaceAll } from './programs.ts';

testProxy({
  program: 'nginx',
  requestsOfAnAddress: 100,
  async configure({ folder, port, servicePort, certificate, privateKey, patience }) {
    const plainPort = await freePort();
    const site = replaceAll(readDeployed('nginx.conf'), [
      ['listen [::]:443 ssl;', ''],
      ['listen [::]:80 default_server;', ''],
      ['listen 443 ssl;', `listen 127.0.0.1:${port} ssl;`],
      ['listen 80 default_server;', `listen 127.0.0.1:${plainPort} default_server;`],
      ['/etc/letsencrypt/live/registry.example.rw/fullchain.pem', certificate],
      ['/etc/letsencrypt/live/registry.example.rw/privkey.pem', privateKey],
      ['/var/log/nginx', folder],
      ['127.0.0.1:8080', `127.0.0.1:${servicePort}`],
      ['75s', patience],
    ]);
    // As in Debian's nginx.conf, both logs are on unless the site says otherwise.
    const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
      (name) => `${name}_temp_path ${join(folder, name)};`,
    );
    const main = `
      daemon off; pid ${join(folder, 'pid')}; error_log ${join(folder, 'error.log')};
      events {}
      http { access_log ${join(folder, 'access.log')}; ${temporary.join(' ')} ${site} }`;
    mkdirSync(folder, { recursive: true });
    const file = join(folder, 'nginx.conf');
    writeFileSync(file, main);
    return ['-p', folder, '-c', file, '-e', join(folder, 'error.log')];
  },
});
