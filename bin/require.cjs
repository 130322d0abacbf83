// The entry point `notigraph` for `require`.

'use strict';

require('./supported-versions.cjs');

module.exports = require('../dist/library/index.js');
