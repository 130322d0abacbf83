// The entry point `notigraph/testing` for `require`.

'use strict';

require('./supported-versions.cjs');

module.exports = require('../dist/library/testing/index.js');
