/** `deploy/Caddyfile` in front of the service (docs/install.md#caddy-instead-of-nginx). */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../support/serving.ts';
import { testProxy } from './behind-proxy.ts';
import { readDeployed, replaceAll } from './programs.ts';

testProxy({
  program: 'caddy',
  async configure({ folder, port, servicePort, certificate, privateKey, patience }) {
    const ports = `https_port ${port}\n\thttp_port ${await freePort()}`;
    const options = `admin off\n\t${ports}\n\tdefault_bind 127.0.0.1`;
    const site = replaceAll(readDeployed('Caddyfile'), [
      ['{\n\tservers {', `{\n\t${options}\n\tservers {`],
      ['\nregistry.example.rw {', `\nregistry.example.rw {\n\ttls ${certificate} ${privateKey}`],
      ['/var/log/caddy', folder],
      ['127.0.0.1:8080', `127.0.0.1:${servicePort}`],
      ['75s', patience],
    ]);
    const file = join(folder, 'Caddyfile');
    writeFileSync(file, site);
    return ['run', '--config', file, '--adapter', 'caddyfile'];
  },
});
