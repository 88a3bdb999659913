/** Sends dropped or chosen files one after the other, and shows the progress. */

const zone = document.querySelector('.drop');
const form = zone?.closest('form');

/** @returns the address of the file's page; undefined if the file could not be sent */
const send = (file, onProgress) =>
  new Promise((resolve) => {
    const request = new XMLHttpRequest();
    request.open('POST', '/import');
    request.setRequestHeader('content-type', 'application/octet-stream');
    request.setRequestHeader('x-desk-token', form.elements.token.value);
    request.setRequestHeader('x-file-name', encodeURIComponent(file.name));
    request.upload.addEventListener('progress', ({ loaded, total }) =>
      onProgress(loaded / Math.max(total, 1)),
    );
    request.addEventListener('load', () => resolve(request.status === 200 ? request.responseURL : undefined));
    request.addEventListener('error', () => resolve(undefined));
    request.send(file);
  });

async function sendAll(files) {
  const status = form.querySelector('[role="status"]');
  const bar = document.createElement('progress');
  status.className = '';
  let page;
  for (const file of files) {
    status.replaceChildren(file.name, bar);
    page = await send(file, (share) => {
      bar.value = share;
    });
    if (page === undefined) {
      status.replaceChildren(`${file.name}: ${status.dataset.fault}`);
      delete form.dataset.sent;
      return;
    }
  }
  location.assign(files.length === 1 ? page : '/import');
}

if (form) {
  // Prevents the browser from opening a file that is dropped outside the zone.
  for (const type of ['dragover', 'drop']) addEventListener(type, (event) => event.preventDefault());
  zone.addEventListener('dragover', () => zone.classList.add('over'));
  zone.addEventListener('dragleave', () => zone.classList.remove('over'));
  zone.addEventListener('drop', ({ dataTransfer }) => {
    zone.classList.remove('over');
    if (dataTransfer.files.length > 0) void sendAll([...dataTransfer.files]);
  });
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void sendAll([...form.elements.file.files]);
  });
}
