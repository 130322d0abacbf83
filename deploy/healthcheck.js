// Health check of the container, in JavaScript because the image has neither a shell nor curl. It asks whether the process is alive, not
// whether it is ready: a gateway that sheds load must not be restarted. node:http loads in less than half the time of fetch.
import { get } from 'node:http';

const { env } = process;
const [host = '127.0.0.1', port = '4000'] =
  env.NOTIGRAPH_ADMIN_PORT === undefined
    ? [env.NOTIGRAPH_HOST, env.NOTIGRAPH_PORT]
    : [env.NOTIGRAPH_ADMIN_HOST, env.NOTIGRAPH_ADMIN_PORT];
/** Loopback addresses, by the address that stands for all of the same kind. */
const loopback = { '::': '::1', '0.0.0.0': '127.0.0.1' };
const fail = () => {
  process.exitCode = 1;
};
get({ host: loopback[host] ?? host, port, path: '/livez' }, (response) => {
  response.resume();
  if (response.statusCode !== 200) {
    fail();
  }
}).on('error', fail);
