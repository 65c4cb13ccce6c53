import assert from 'node:assert/strict'
import {
  type Bundles,
  filesOf,
  installCommand,
  type Measurements,
  runOk,
  withMachine,
} from './installed.ts'

/** What is wrong, how to prepare it, and the exit code and words that are expected. */
const REFUSALS: [name: string, prepare: string, options: string, code: number, words: RegExp][] = [
  ['an unknown flag', ':', '--bogus', 2, /unknown option --bogus/],
  ['a model that is not there', ':', '--model=/nowhere.gguf', 2, /cannot be read/],
  [
    'an old Debian',
    'sed -i s/^VERSION_ID=.*/VERSION_ID=\\"11\\"/ /etc/os-release',
    '',
    3,
    /too old/,
  ],
  ['another system', 'sed -i s/^ID=.*/ID=fedora/ /etc/os-release', '', 3, /not supported/],
  [
    '2 GB of memory',
    'sed "s/^MemTotal:.*/MemTotal: 2000000 kB/" /proc/meminfo > /tmp/meminfo && mount --bind /tmp/meminfo /proc/meminfo',
    '',
    5,
    /3\.5 GiB/,
  ],
  [
    'a small disk',
    'mkdir -p /small && mount -t tmpfs -o size=4g none /small',
    '--data-dir=/small/hub',
    6,
    /at least 18 GiB/,
  ],
  [
    'a full disk',
    'mkdir -p /full && mount -t tmpfs -o size=20g none /full && fallocate -l 15g /full/x',
    '--data-dir=/full/hub --model=none',
    6,
    /MiB are required/,
  ],
  [
    'a busy port',
    'echo "server { listen 8770; }" > /etc/nginx/conf.d/busy.conf && systemctl reload nginx && sleep 1',
    '',
    7,
    /port 8770/,
  ],
]

/**
 * If a machine lacks something, or a bundle contains too much, the installation ends and changes
 * nothing.
 */
export async function refusals(base: string, bundles: Bundles): Promise<Measurements> {
  for (const [name, prepare, options, code, words] of REFUSALS) {
    await withMachine(base, bundles, async (machine) => {
      await machine.sh(prepare)
      const before = await filesOf(machine)
      const ran = await machine.sh(installCommand('1.0.0', options))
      console.log(`  ${name}: ${ran.stderr.trim()}`)
      assert.equal(ran.code, code, ran.stdout + ran.stderr)
      assert.match(ran.stderr, words)
      assert.deepEqual(await filesOf(machine), before)
    })
  }
  await withMachine(base, bundles, async (machine) => {
    const before = await filesOf(machine)
    const asUser = await machine.sh(
      `cp /root/install.sh /tmp && setpriv --reuid=nobody --regid=nogroup --clear-groups sh /tmp/install.sh`,
    )
    assert.equal(asUser.code, 4)
    assert.match(asUser.stderr, /sudo/)
    assert.deepEqual(await filesOf(machine), before)
    for (const [name, spoil, words] of SPOILED) {
      await runOk(
        machine,
        `rm -rf /root/spoil && mkdir /root/spoil && cd /root/spoil && tar -xzf /root/watchpost-hub-1.0.0-linux-x64.tar.gz && ${spoil} && tar -czf /root/spoiled.tar.gz *`,
      )
      const ran = await machine.sh(
        installCommand('1.0.0').replace('watchpost-hub-1.0.0-linux-x64', 'spoiled'),
      )
      console.log(`  ${name}: ${ran.stderr.trim()}`)
      assert.equal(ran.code, 8, ran.stdout + ran.stderr)
      assert.match(ran.stderr, words)
      assert.deepEqual(await filesOf(machine), before)
    }
  })
  return { refusals: REFUSALS.length + SPOILED.length + 1 }
}

const SPOILED: [name: string, spoil: string, words: RegExp][] = [
  ['a tampered file', 'printf x >> payload.tar.gz', /size/],
  [
    'a tampered file of the same size',
    'printf x | dd of=payload.tar.gz bs=1 seek=5000 conv=notrunc status=none',
    /does not match the signed checksum/,
  ],
  ['a wrong signature', 'head -c 64 /dev/urandom | base64 -w0 > manifest.json.sig', /signature/],
  ['another verifier', 'echo "console.log(1)" > verify.ts', /altered/],
  ['half a bundle', 'rm manifest.json', /incomplete or damaged/],
]
