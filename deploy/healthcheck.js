// Health check of the container, in JavaScript because the image has neither a shell nor curl. It asks whether the process is alive, not
// whether it is ready: a gateway that sheds load must not be restarted. node:http loads in less than half the time of fetch.
import { get } from 'node:http';

const { NOTIGRAPH_ADMIN_PORT, NOTIGRAPH_PORT = '4000' } = process.env;
const fail = () => {
  process.exitCode = 1;
};
get({ host: '127.0.0.1', port: NOTIGRAPH_ADMIN_PORT ?? NOTIGRAPH_PORT, path: '/livez' }, (response) => {
  response.resume();
  if (response.statusCode !== 200) {
    fail();
  }
}).on('error', fail);
