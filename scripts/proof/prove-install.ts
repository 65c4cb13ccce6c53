/**
 * `npm run proof -- install`: the bundle and install.sh on machines that are not this one: installed,
 * used, upgraded, rolled back, killed and removed in a Debian without a network.
 */
import assert from 'node:assert/strict'
import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { appendFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type BundleOptions, digestOf, gatherPayload, packBundle } from '../build/hub-bundle.ts'
import {
  type Bundles,
  type Counted,
  call,
  good,
  HELLO,
  health,
  installOf,
  signUp,
  stepsOf,
  until,
  upgradeTo,
  withMachine,
} from './installed.ts'
import { type Machine, suite } from './machine.ts'
import { linkedAnywhere } from './prove-links.ts'
import { pageInItsSandbox } from './prove-reader.ts'

const INSTALL_SECONDS = 300

/** proveInstall runs every scenario and answers what was counted on the way; it throws at the first that fails. */
export async function proveInstall(debian = 'bookworm', only = ''): Promise<Counted> {
  const work = await mkdtemp('/var/tmp/watchpost-prove-')
  try {
    const base = await suite(debian)
    const bundles = await makeBundles(work)
    const counted: Counted = { debian }
    const chosen = Object.entries(SCENARIOS).filter(([name]) => name.includes(only))
    for (const [name, scenario] of chosen) {
      console.log(`\n${name}`)
      Object.assign(counted, await scenario(base, bundles))
    }
    return counted
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}

/** A first version, a second with a migration, and a third that does not start. */
async function makeBundles(work: string): Promise<Bundles> {
  const { privateKey } = generateKeyPairSync('ed25519')
  const key = createPrivateKey(privateKey.export({ format: 'pem', type: 'pkcs8' }))
  const payload = join(work, 'payload')
  const options = (version: string): BundleOptions => ({
    out: join(work, version),
    version,
    install_url: '',
    key: key as KeyObject,
    license_keys: join(import.meta.dirname, '../../hub/license/license-keys.json'),
    is_test: true,
  })
  await gatherPayload(payload, options('1.0.0'))
  const first = await packBundle(payload, options('1.0.0'))
  await requireSame(first, join(work, 'again'), options('1.0.0'))
  const upgrades = join(payload, 'hub/sql/upgrades')
  await mkdir(upgrades, { recursive: true })
  await writeFile(
    join(upgrades, '20990101000000_probe.sql'),
    "create table hub.probe (id int primary key);\ncomment on table hub.probe is 'Of a proof.';\n",
  )
  const second = await packBundle(payload, options('1.1.0'))
  await writeFile(join(upgrades, '20990102000000_probe.sql'), 'drop table hub.probe;\n')
  await appendFile(join(payload, 'hub/main.ts'), "\nthrow new Error('broken for a proof')\n")
  const broken = await packBundle(payload, options('1.2.0'))
  return { first, second, broken, installer: join(work, '1.0.0', 'install.sh') }
}

/** A second build, with an installation of its modules of its own, is equal byte for byte. */
async function requireSame(first: string, folder: string, options: BundleOptions): Promise<void> {
  await gatherPayload(join(folder, 'payload'), options)
  const second = await packBundle(join(folder, 'payload'), { ...options, out: folder })
  assert.equal(await digestOf(second), await digestOf(first), 'two builds differ')
  await rm(folder, { recursive: true })
}

const SCENARIOS = {
  'installed, used, upgraded, rolled back and removed': wholeLife,
  'listening beyond loopback': beyondLoopback,
  'killed after every step': killedAnywhere,
  'killed in an upgrade': killedUpgrade,
  'a web page read in its sandbox': pageInItsSandbox,
  'links to elsewhere behind every step': linkedAnywhere,
  'two runs at once': twoAtOnce,
  'refused with a reason': refusals,
}

const secretsOf = (machine: Machine) =>
  good(machine, 'cd /etc/watchpost && sha256sum service.key public.key hub.token')

/** Everything but what runs, changes by itself or is the proof's own. */
const filesOf = async (machine: Machine) =>
  (
    await good(
      machine,
      'find / -xdev \\( -path /proc -o -path /sys -o -path /run -o -path /dev -o -path /root -o -path /tmp -o -path /var/tmp -o -path /var/log/journal \\) -prune -o -print | sort',
    )
  ).split('\n')

async function wholeLife(base: string, bundles: Bundles): Promise<Counted> {
  return withMachine(base, bundles, async (machine) => {
    const before = await filesOf(machine)
    const began = performance.now()
    const told = await good(machine, installOf('1.0.0', '--model=/root/tiny.gguf'))
    const install_seconds = Math.round((performance.now() - began) / 100) / 10
    assert.ok(install_seconds < INSTALL_SECONDS)
    assert.match(told, /http:\/\/127\.0\.0\.1\/hub\//)
    const code = /Set-up code\s+(\S+)/.exec(told)?.[1]
    assert.ok(code)
    assert.match(await good(machine, 'curl -sf http://127.0.0.1/hub/'), /<div id="root"|<main/)

    const restart_ms = await startTime(machine)
    const idle_mib = await memoryOf(machine)
    const secrets = await secretsOf(machine)
    const again = performance.now()
    await good(machine, installOf('1.0.0'))
    const again_seconds = Math.round((performance.now() - again) / 100) / 10
    assert.equal(await secretsOf(machine), secrets)

    await useIt(machine, code)
    const lines = await good(machine, 'cat /etc/cron.d/watchpost')
    const nightly = /^0 3 \* \* \* watchpost (.*)$/m.exec(lines)?.[1]
    await good(machine, `setpriv --reuid=watchpost --regid=watchpost --init-groups ${nightly}`)
    const archive = (await good(machine, 'ls -t /var/lib/watchpost/backups | head -1')).trim()
    await good(machine, `watchpost-hub restore --check /var/lib/watchpost/backups/${archive}`)
    const [lead] = (await call(machine, 'GET', 'leads/list?project=demir')).body.leads
    assert.equal((await call(machine, 'POST', 'lead/delete', { lead_id: lead.id })).status, 200)
    await good(machine, `watchpost-hub restore --yes /var/lib/watchpost/backups/${archive}`)
    await health(machine)
    const { leads } = (await call(machine, 'GET', 'leads/list?project=demir')).body
    assert.equal(leads.length, 1)
    // A restored hub starts anew by itself.
    await until(
      async () => ((await machine.sh('watchpost-hub doctor')).code === 0 ? true : undefined),
      'the doctor is content',
    )

    await good(machine, upgradeTo('1.1.0'))
    assert.equal((await health(machine)).version, '1.1.0')
    const probe = sqlOf('select count(*)::int from hub.probe')
    await good(machine, probe)
    const refused = await machine.sh(upgradeTo('1.2.0'))
    assert.equal(refused.code, 10, refused.stdout + refused.stderr)
    assert.equal((await health(machine)).version, '1.1.0')
    await good(machine, probe)
    assert.equal((await call(machine, 'GET', 'leads/list?project=demir')).body.leads.length, 1)
    assert.equal(await secretsOf(machine), secrets)

    await good(machine, 'watchpost-hub uninstall')
    assert.equal(
      (await machine.sh('curl -sf http://127.0.0.1/api/cockpit/health')).code !== 0,
      true,
    )
    await good(machine, 'test -s /var/lib/watchpost/projects/demir/CONTEXT.md')
    await good(machine, installOf('1.1.0'))
    assert.equal(await secretsOf(machine), secrets)
    assert.equal((await call(machine, 'GET', 'leads/list?project=demir')).body.leads.length, 1)
    await good(machine, 'watchpost-hub uninstall --purge --yes')
    const after = await filesOf(machine)
    const left = after.filter((file) => !before.includes(file) && !isOfTheSystem(file))
    assert.deepEqual(left, [])
    return { install_seconds, again_seconds, restart_ms, idle_mib }
  })
}

/** On every address there is TLS: a certificate of its own that names the machine, until somebody brings one. */
async function beyondLoopback(base: string, bundles: Bundles): Promise<Counted> {
  return withMachine(base, bundles, async (machine) => {
    const told = await good(machine, installOf('1.0.0', '--model=none --bind=0.0.0.0'))
    const name = (await good(machine, 'hostname')).trim()
    assert.match(told, new RegExp(`https://${name}/hub/`))
    const code = /Set-up code\s+(\S+)/.exec(told)?.[1]
    const certified = `curl -sS --cacert /etc/watchpost/tls/hub.crt --resolve ${name}:443:127.0.0.1 --resolve ${name}:80:127.0.0.1`
    assert.match(await good(machine, `${certified} https://${name}/hub/`), /<div id="root"|<main/)
    const plain = await good(
      machine,
      `${certified} -o /dev/null -w '%{http_code} %{redirect_url}' http://${name}/hub/`,
    )
    assert.equal(plain, `301 https://${name}/hub/`)
    const given = JSON.stringify({ code, password: HELLO })
    const set = await good(
      machine,
      `${certified} -i -H 'Content-Type: application/json' -d '${given}' https://${name}/api/cockpit/setup`,
    )
    assert.match(set, /^HTTP\/[\d.]+ 200/)
    assert.match(set, /set-cookie: .*Secure/i)

    const certificate = await good(machine, 'sha256sum /etc/watchpost/tls/hub.crt')
    await good(machine, installOf('1.0.0'))
    assert.equal(await good(machine, 'sha256sum /etc/watchpost/tls/hub.crt'), certificate)
    await good(machine, `${certified} -f https://${name}/api/cockpit/health`)
    return {}
  })
}

/** What passwd's tools, nginx and systemd leave behind on their own account. */
function isOfTheSystem(file: string): boolean {
  return /^\/(etc\/\.pwd\.lock|etc\/(passwd|group|shadow|gshadow|subuid|subgid)-?$|var\/lib\/systemd\/|var\/lib\/nginx\/|var\/log\/|var\/lib\/private|var\/cache\/private|var\/spool\/cron)/.test(
    file,
  )
}

async function startTime(machine: Machine): Promise<number> {
  const began = performance.now()
  await good(machine, 'systemctl restart watchpost-hub')
  await health(machine)
  return Math.round(performance.now() - began)
}

/** The hub's own process without a model, as the kernel counts what it does not share. */
async function memoryOf(machine: Machine): Promise<number> {
  const pss = await good(
    machine,
    'awk \'$1 == "Pss:" { print $2 }\' /proc/$(systemctl show -P MainPID watchpost-hub)/smaps_rollup',
  )
  return Math.round(Number(pss) / 1024)
}

/** The wizard by the API, a project, a lead, and a mission through the model. */
async function useIt(machine: Machine, code: string): Promise<void> {
  await signUp(machine, code)
  const made = await call(machine, 'POST', 'projects/create', { slug: 'demir', name: 'Demir' })
  assert.equal(made.status, 201, JSON.stringify(made.body))
  const lead = { slug: 'demir', data: { name: 'Ayse', email: 'ayse@demir.example' } }
  assert.equal((await call(machine, 'POST', 'lead/quick_add', lead)).status, 201)
  assert.equal((await call(machine, 'GET', 'system_info')).status, 200)
  const task = { department: 'sales', task: 'Write a call script for Ayse.', project: 'demir' }
  const sent = await call(machine, 'POST', 'mission/compose', task)
  assert.equal(sent.status, 202, JSON.stringify(sent.body))
  const { id } = sent.body.mission
  const { status, reason } = await until(async () => {
    const { mission } = (await call(machine, 'GET', `missions/${id}`)).body
    return ['done', 'failed'].includes(mission.status) ? mission : undefined
  }, 'the mission ends')
  // A model of random weights may fail a mission, but only with a reason.
  assert.ok(status === 'done' || reason, `${status}: ${reason}`)
}

/** Writes install.sh as it is, but that it is killed behind one of its lines. */
async function killedBehind(machine: Machine, lines: string[], index: number): Promise<void> {
  const killed = lines.toSpliced(index + 1, 0, '  kill -9 $$').join('\n')
  await writeFile(join(machine.root, 'root/killed.sh'), killed)
  console.log(`  ${lines[index]?.trim()}`)
}

const killedInstall = (version: string) =>
  installOf(version, '--model=none').replace('/root/install.sh', '/root/killed.sh')

/** Behind every step of an installation the script is killed once. */
async function killedAnywhere(base: string, bundles: Bundles): Promise<Counted> {
  const lines = (await readFile(bundles.installer, 'utf8')).split('\n')
  const steps = [
    ...stepsOf(
      lines,
      'install_hub',
      /^ {2}(fetch_|verify_|make_|keep_fact data_dir|unpack|write_)/,
    ),
    ...stepsOf(lines, 'first', /^ {2}(make_|switch_|write_|start_database|prepare_|set_model)/),
  ]
  assert.ok(steps.length >= 14)
  await withMachine(base, bundles, async (machine) => {
    let secrets: string | undefined
    for (const index of steps) {
      await killedBehind(machine, lines, index)
      const { code } = await machine.sh(killedInstall('1.0.0'))
      assert.notEqual(code, 0)
      const known = await machine.sh(
        'cd /etc/watchpost && sha256sum service.key public.key hub.token',
      )
      if (known.code === 0) secrets ??= known.stdout
      await good(machine, installOf('1.0.0', '--model=none'))
      await health(machine)
      secrets ??= await secretsOf(machine)
      assert.equal(await secretsOf(machine), secrets)
      await good(machine, 'watchpost-hub uninstall')
    }
  })
  return { killed_after: steps.length }
}

/** And behind the steps of an upgrade: the next run ends at the new version, with all data. */
async function killedUpgrade(base: string, bundles: Bundles): Promise<Counted> {
  const lines = (await readFile(bundles.installer, 'utf8')).split('\n')
  const steps = stepsOf(lines, 'upgrade', /^ {2}(cp -a|keep_fact|switch_to|start_database)/)
  assert.equal(steps.length, 4)
  for (const index of steps) {
    await withMachine(base, bundles, async (machine) => {
      await good(machine, installOf('1.0.0', '--model=none'))
      await good(machine, sqlOf('create table public.marker ()'))
      const secrets = await secretsOf(machine)
      await killedBehind(machine, lines, index)
      assert.notEqual((await machine.sh(killedInstall('1.1.0'))).code, 0)
      await good(machine, installOf('1.1.0'))
      assert.equal((await health(machine)).version, '1.1.0')
      assert.equal(await secretsOf(machine), secrets)
      await good(machine, sqlOf('select from public.marker, hub.probe'))
      await good(machine, '! test -e /var/lib/watchpost/.install/postgres.before')
    })
  }
  return { upgrades_killed: steps.length }
}

/** A statement as the owner of the installed database. */
const sqlOf = (statement: string) => `/opt/watchpost/current/bin/node -e "
  const { Client } = require('/opt/watchpost/current/node_modules/pg');
  const c = new Client('postgres://postgres@localhost/hub?host=/run/watchpost-db&port=8771');
  c.connect().then(() => c.query('${statement}')).then((r) => { console.log(JSON.stringify(r.rows)); return c.end() })"`

async function twoAtOnce(base: string, bundles: Bundles): Promise<Counted> {
  return withMachine(base, bundles, async (machine) => {
    const codes = await Promise.all(
      [1, 2].map(async () => (await machine.sh(installOf('1.0.0', '--model=none'))).code),
    )
    assert.deepEqual(codes.sort(), [0, 9])
    await health(machine)
    return { at_once: codes.join(' and ') }
  })
}

/** What is wrong, how it is made so, and the exit code that says so. */
const REFUSALS: [name: string, prepare: string, options: string, code: number, words: RegExp][] = [
  ['an unknown flag', ':', '--bogus', 2, /no option --bogus/],
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
    /18 is the least/,
  ],
  [
    'a full disk',
    'mkdir -p /full && mount -t tmpfs -o size=20g none /full && fallocate -l 15g /full/x',
    '--data-dir=/full/hub --model=none',
    6,
    /are needed/,
  ],
  [
    'a busy port',
    'echo "server { listen 8770; }" > /etc/nginx/conf.d/busy.conf && systemctl reload nginx && sleep 1',
    '',
    7,
    /port 8770/,
  ],
]

async function refusals(base: string, bundles: Bundles): Promise<Counted> {
  for (const [name, prepare, options, code, words] of REFUSALS) {
    await withMachine(base, bundles, async (machine) => {
      await machine.sh(prepare)
      const before = await filesOf(machine)
      const ran = await machine.sh(installOf('1.0.0', options))
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
      await good(
        machine,
        `rm -rf /root/spoil && mkdir /root/spoil && cd /root/spoil && tar -xzf /root/watchpost-hub-1.0.0-linux-x64.tar.gz && ${spoil} && tar -czf /root/spoiled.tar.gz *`,
      )
      const ran = await machine.sh(
        installOf('1.0.0').replace('watchpost-hub-1.0.0-linux-x64', 'spoiled'),
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
    /not what was signed/,
  ],
  ['a wrong signature', 'head -c 64 /dev/urandom | base64 -w0 > manifest.json.sig', /signature/],
  ['another verifier', 'echo "console.log(1)" > verify.ts', /altered/],
  ['half a bundle', 'rm manifest.json', /no whole bundle/],
]

if (import.meta.main) console.log(await proveInstall(process.argv[2], process.argv[3]))
