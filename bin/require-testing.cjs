'use strict';

require('./supported-node.cjs');

module.exports = require('../dist/library/testing/index.js');
