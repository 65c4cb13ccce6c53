import assert from 'node:assert/strict'
import {
  type Bundles,
  call,
  health,
  installCommand,
  type Measurements,
  runOk,
  signUp,
  waitUntil,
  withMachine,
} from './installed.ts'
import { createRootWith, type Machine } from './machine.ts'

/** Public by every rule. Inside the machine it is an address of loopback, where nginx answers. */
const OUTSIDE = '93.184.215.14'
const LEAD = 'www.demir-lojistik.example'
const EVIL = 'www.evil-lojistik.example'

const PAGE = `<title>Demir Lojistik</title><p>Demir Lojistik runs 40 lorries from Izmir.</p>
<iframe src="http://127.0.0.1:8770/hub/"></iframe>
<script>window.open("http://127.0.0.1:8770/hub/"); fetch("http://127.0.0.1:8770/hub/").catch(() => {})</script>
<script src="/slow.js"></script>`

/** A site on a public address of the machine itself, so that the rules are those of production. */
const SITE = `
ip address add ${OUTSIDE}/32 dev lo
echo '${OUTSIDE} ${LEAD} ${EVIL}' >> /etc/hosts
mkdir -p /srv/lead
printf '%s' '${PAGE}' > /srv/lead/index.html
printf '/*%0400d*/' 0 > /srv/lead/slow.js
cat > /etc/nginx/conf.d/lead.conf << 'END'
server {
  listen ${OUTSIDE}:80;
  server_name ${LEAD};
  root /srv/lead;
  access_log /var/log/nginx/lead.log;
  location = /slow.js { limit_rate 100; }
}
server {
  listen ${OUTSIDE}:80;
  server_name ${EVIL};
  location = /robots.txt { return 404; }
  location / { return 302 http://127.0.0.1/api/cockpit/health; }
}
END
systemctl restart nginx`

/**
 * A mission of an installed hub reads a real page, in Chromium's own sandbox, in a unit without
 * network access and without access to the hub's files. Addresses inside the network are refused;
 * doctor reports both.
 */
export async function proveReader(base: string, bundles: Bundles): Promise<Measurements> {
  const debian = base.split('/').at(-1) ?? 'bookworm'
  const withChromium = await createRootWith(debian, ['chromium'])
  return withMachine(withChromium, bundles, async (machine) => {
    const told = await runOk(machine, installCommand('1.0.0', '--model=/root/tiny.gguf'))
    await runOk(machine, SITE)
    const code = /Set-up code\s+(\S+)/.exec(told)?.[1]
    assert.ok(code)
    await health(machine)
    await signUp(machine, code)
    const made = await call(machine, 'POST', 'projects/create', { slug: 'demir', name: 'Demir' })
    assert.equal(made.status, 201, JSON.stringify(made.body))
    const doctor = await runOk(machine, 'watchpost-hub doctor')
    assert.match(doctor, /^ok\s+Browser.*starts in its sandbox/m, doctor)

    await begin(machine, `http://${LEAD}/`)
    const read = await readingOf(machine, sandboxOf)
    assert.match(read, /40 lorries/)
    assert.match(read, new RegExp(`"url":\\s*"http://${LEAD}/"`))
    const asked = await runOk(machine, 'cat /var/log/nginx/lead.log')
    assert.match(asked, /GET \/robots\.txt/)
    assert.doesNotMatch(asked, /POST/)

    await begin(machine, `http://${EVIL}/`)
    const refused = await readingOf(machine)
    assert.match(refused, /127\.0\.0\.1 does not exist or is inside your own network/)

    await noSandbox(machine)
    const left = await runOk(machine, 'pgrep -c chromium || :')
    assert.equal(left.trim(), '0', 'a browser is left')
    return { pages_read: 1, pages_refused: 1 }
  })
}

async function begin(machine: Machine, url: string): Promise<void> {
  await call(machine, 'PUT', 'settings/agents', { web: 'allow', improve: 'never' })
  const task = { department: 'web_research', task: `Read ${url}`, project: 'demir' }
  const sent = await call(machine, 'POST', 'mission/compose', task)
  assert.equal(sent.status, 202, JSON.stringify(sent.body))
}

/** The result of the mission's first reading; `look` runs meanwhile. */
async function readingOf(
  machine: Machine,
  look: (machine: Machine) => Promise<boolean> = async () => true,
): Promise<string> {
  let seen = false
  const output = await waitUntil(async () => {
    seen ||= await look(machine)
    const rows = JSON.parse(
      await runOk(
        machine,
        `cd / && /opt/watchpost/current/bin/node -e "
        const { Client } = require('/opt/watchpost/current/node_modules/pg');
        const c = new Client('postgres://postgres@localhost/hub?host=/run/watchpost-db&port=8771');
        c.connect().then(() => c.query(\\"select step.output from hub.missions as mission left join hub.mission_steps as step on step.mission_id = mission.id and step.name like 'read %' order by mission.created_at desc limit 1\\")).then((r) => { console.log(JSON.stringify(r.rows)); return c.end() })"`,
      ),
    )
    return rows[0]?.output ? JSON.stringify(rows[0].output) : undefined
  }, 'the page is read')
  assert.ok(seen, 'no renderer in a sandbox was seen')
  return output
}

/** Whether a renderer is running; if so, it must be isolated in every way. */
async function sandboxOf(machine: Machine): Promise<boolean> {
  const { stdout } = await machine.sh('pgrep -f -- [-]-type=renderer | head -1')
  const renderer = stdout.trim()
  if (renderer === '') return false
  const facts = await machine.sh(`
    main=$(systemctl show -P MainPID 'watchpost-reader@*.service' | grep '^[1-9]' | head -1)
    echo "uid $(stat -c %u /proc/$main) hub $(id -u watchpost)"
    echo "seccomp $(awk '$1 == "Seccomp:" { print $2 }' /proc/${renderer}/status)"
    for kind in user pid net; do
      echo "$kind $(readlink /proc/${renderer}/ns/$kind) $(readlink /proc/$main/ns/$kind) $(readlink /proc/1/ns/$kind)"
    done
    tr '\\0' ' ' < /proc/${renderer}/cmdline | grep -c no-sandbox
    nsenter -t $main -n ip -o address show scope global | grep -c ${OUTSIDE}
    nsenter -t $main -n curl -s -m 2 http://127.0.0.1:8770/ ; echo "hub by network $?"
    for file in /etc/watchpost/hub.token /var/lib/watchpost/projects /run/watchpost-db/.s.PGSQL.8771 /run/watchpost-model/model.sock; do
      nsenter -t $main -m test -e $file && echo "sees $file"
    done
    echo end`)
  const out = facts.stdout
  // The page may have ended meanwhile.
  if (!/end$/.test(out.trim()) || !/^seccomp 2$/m.test(out)) return false
  const [, uid, hub] = /^uid (\d+) hub (\d+)$/m.exec(out) ?? []
  assert.ok(Number(uid) > 0 && uid !== hub, out)
  for (const kind of ['user', 'pid', 'net']) {
    const [, renders, reads, inits] =
      new RegExp(`^${kind} (\\S+) (\\S+) (\\S+)$`, 'm').exec(out) ?? []
    assert.notEqual(renders, reads, out)
    if (kind === 'net') assert.notEqual(reads, inits, out)
  }
  assert.match(out, /^0\n0\n/m, out)
  assert.match(out, /hub by network 7/, out)
  assert.doesNotMatch(out, /^sees/m, out)
  return true
}

/** Where the sandbox cannot start, nothing is read, and doctor says why. */
async function noSandbox(machine: Machine): Promise<void> {
  const folder = "'/etc/systemd/system/watchpost-reader@.service.d'"
  await runOk(
    machine,
    `mkdir -p ${folder} && printf '[Service]\\nRestrictNamespaces=\\nRestrictNamespaces=true\\n' > ${folder}/shut.conf && systemctl daemon-reload`,
  )
  const doctor = (await machine.sh('watchpost-hub doctor')).stdout
  assert.match(doctor, /^warn\s+Browser.*the hub reads no page without it/m, doctor)
  await begin(machine, `http://${LEAD}/`)
  assert.match(await readingOf(machine), /the hub reads no page without it/)
  await runOk(machine, `rm -r ${folder} && systemctl daemon-reload`)
}
