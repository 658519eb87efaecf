// A client of `xds:///shop`, as `rpc.py` is one: `node rpc.js MODULES SECONDS`.
'use strict';

const { createRequire } = require('module');

const [modules, seconds] = process.argv.slice(2);
const installed = createRequire(`${modules}/`);
const grpc = installed('@grpc/grpc-js');
installed('@grpc/grpc-js-xds').register();

const client = new grpc.Client('xds:///shop', grpc.credentials.createInsecure());
const bytes = (it) => it;

function ask(milliseconds) {
  return new Promise((done) => {
    const options = { deadline: Date.now() + milliseconds, waitForReady: true };
    const request = Buffer.alloc(0);
    client.makeUnaryRequest('/acme.Shop/Buy', bytes, bytes, request, new grpc.Metadata(), options,
      (error, answer) => done(error ? `failed: ${error.details}` : answer.toString()));
  });
}

async function main() {
  const answers = [await ask(60000)];
  console.log('ready');
  const end = Date.now() + seconds * 1000;
  while (Date.now() < end) {
    answers.push(await ask(10000));
    await new Promise((done) => setTimeout(done, 2));
  }
  const failed = answers.filter((answer) => answer.startsWith('failed'));
  const answered = answers.length - failed.length;
  console.log(`${answers[0]} ${answers.at(-1)} ${answered} ${failed.length} ${failed.slice(0, 1)}`);
  process.exit(0);
}

main();
