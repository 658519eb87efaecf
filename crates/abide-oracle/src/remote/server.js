// A server of reflection in Node: `node server.js MODULES SET SERVICE…`. Prints its port, and ends with
// its standard input.
'use strict';

const { createRequire } = require('module');
const { readFileSync } = require('fs');

const [modules, set, ...services] = process.argv.slice(2);
const installed = createRequire(`${modules}/`);
const { createServer } = installed('nice-grpc');
const { ServerReflection, ServerReflectionService } = installed('nice-grpc-server-reflection');

const server = createServer();
server.add(ServerReflectionService, ServerReflection(readFileSync(set), services));
server.listen('127.0.0.1:0').then((port) => console.log(port));
process.stdin.resume();
process.stdin.on('end', () => process.exit(0));
