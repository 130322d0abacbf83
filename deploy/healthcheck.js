// Health check of the container, in JavaScript because the image has neither a shell nor curl. It asks whether the process is alive, not
// whether it is ready: a gateway that sheds load must not be restarted.
const { NOTIGRAPH_ADMIN_PORT, NOTIGRAPH_PORT = '4000' } = process.env;
const response = await fetch(`http://127.0.0.1:${NOTIGRAPH_ADMIN_PORT ?? NOTIGRAPH_PORT}/livez`);
process.exitCode = response.ok ? 0 : 1;
