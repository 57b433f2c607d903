// A self-signed certificate for 127.0.0.1, made on the spot: no key lies in the repository.
import { generateKeyPairSync, sign } from 'node:crypto';

function der(tag, ...contents) {
  const body = Buffer.concat(contents);
  const size =
    body.length < 128
      ? Buffer.from([body.length])
      : Buffer.from([0x82, body.length >> 8, body.length & 255]);
  return Buffer.concat([Buffer.from([tag]), size, body]);
}
const sequence = (...items) => der(0x30, ...items);
const integer = (...bytes) => der(0x02, Buffer.from(bytes));
const bit_string = (bytes) => der(0x03, Buffer.from([0]), bytes);
const octets = (bytes) => der(0x04, bytes);
const object_id = (hex) => der(0x06, Buffer.from(hex, 'hex'));
const time = (text) => der(0x17, Buffer.from(text));

const kEcdsaSha256 = sequence(object_id('2a8648ce3d040302'));
const kName = sequence(
  der(0x31, sequence(object_id('550403'), der(0x0c, Buffer.from('127.0.0.1')))),
);
const kSubjectAltName = object_id('551d11');
const kBasicConstraints = object_id('551d13');

export function make_certificate() {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const address = der(0x87, Buffer.from([127, 0, 0, 1]));
  const extensions = sequence(
    sequence(kSubjectAltName, octets(sequence(address))),
    sequence(kBasicConstraints, octets(sequence(der(0x01, Buffer.from([255]))))),
  );
  const body = sequence(
    der(0xa0, integer(2)),
    integer(1),
    kEcdsaSha256,
    kName,
    sequence(time('250101000000Z'), time('491231235959Z')),
    kName,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, extensions),
  );
  const whole = sequence(body, kEcdsaSha256, bit_string(sign('sha256', body, privateKey)));
  const lines = whole
    .toString('base64')
    .match(/.{1,64}/g)
    .join('\n');
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
  };
}
