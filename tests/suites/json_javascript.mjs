// What JavaScript itself makes of json_cases.txt: the verdicts of the unit test are compared with those of this Node.js.
// Differences that are meant: bytes that are not UTF-8 (Callgate refuses them) and 500 levels (Callgate allows 128).
import { readFileSync } from 'node:fs';

const kMeant = /^(string_(invalid_sequence|surrogate_in_utf8|invalid_utf8|latin_1|lone_continuation|out_of_range|overlong_.*|truncated_utf8)|structure_500_arrays)$/;

function expand(text) {
  const bytes = [];
  const repeat = /^@repeat (\d+) (.*?)(?: (?=@repeat )|$)/;
  for (let found; (found = repeat.exec(text)); text = text.slice(found[0].length))
    bytes.push(Buffer.from(found[2].repeat(Number(found[1]))));
  const plain = text.replace(/\\(x[0-9a-f]{2}|\\)/g, (all, code) =>
    code === '\\' ? '\\' : String.fromCharCode(parseInt(code.slice(1), 16)),
  );
  bytes.push(Buffer.from(plain, 'latin1'));
  return Buffer.concat(bytes);
}

const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
const accepts = (bytes) => {
  try {
    JSON.parse(decoder.decode(bytes));
    return true;
  } catch {
    return false;
  }
};

const counts = { y: 0, n: 0, i: 0 };
const wrong = [];
let meant = 0;
for (const line of readFileSync(process.argv[2], 'latin1').split('\n')) {
  const found = /^([yni]) (\S+) ?(.*)$/.exec(line);
  if (!found) continue;
  const [, verdict, name, text] = found;
  const bytes = expand(text);
  const accepted = accepts(bytes);
  ++counts[verdict];
  let expected = verdict === 'y';
  if (verdict === 'i') expected = !bytes.includes(0) && name !== 'structure_bom_object';
  if (kMeant.test(name)) ++meant;
  if (accepted !== expected) wrong.push(`${name}: JavaScript ${accepted ? 'accepts' : 'refuses'} it`);
}
console.log(`json: ${counts.y} valid, ${counts.n} invalid, ${counts.i} free; ${meant} of them differ on purpose`);
for (const line of wrong) console.log(`  ${line}`);
process.exit(wrong.length === 0 ? 0 : 1);
