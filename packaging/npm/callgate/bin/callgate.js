#!/usr/bin/env node
// Starts the callgate binary of this platform's package. CALLGATE_BINARY names another one.
'use strict';
const { spawn } = require('node:child_process');

const PACKAGES = { 'linux x64': '@callgate/linux-x64' };

function findBinary() {
  if (process.env.CALLGATE_BINARY) return process.env.CALLGATE_BINARY;
  const platform = `${process.platform} ${process.arch}`;
  const name = PACKAGES[platform];
  if (!name) throw new Error(`there is no package for ${platform}; set CALLGATE_BINARY to a binary of your own`);
  if (process.report && !process.report.getReport().header.glibcVersionRuntime) {
    throw new Error('the package needs glibc, and this system has another C library');
  }
  try {
    return require.resolve(`${name}/bin/callgate`);
  } catch {
    throw new Error(`${name} is not installed; npm leaves it out with --omit=optional`);
  }
}

function main() {
  let binary;
  try {
    binary = findBinary();
  } catch (error) {
    console.error(`callgate: ${error.message}`);
    process.exit(1);
  }
  const child = spawn(binary, process.argv.slice(2), { stdio: 'inherit' });
  // Signals from a terminal reach the binary by themselves; those of kill(1) are for this process and passed on.
  for (const signal of ['SIGHUP', 'SIGTERM']) process.on(signal, () => child.kill(signal));
  process.on('SIGINT', () => {});
  child.on('error', (error) => {
    console.error(`callgate: ${error.message}`);
    process.exit(1);
  });
  child.on('exit', (code, signal) => {
    if (signal === null) process.exit(code);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}

main();
