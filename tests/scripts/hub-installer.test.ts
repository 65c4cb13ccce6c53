import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { assembleInstaller } from '../../scripts/build/hub-bundle.ts'

const FOLDER = join(import.meta.dirname, '../../hub/install')

test('the installer that is shipped is one script, with each of its parts once', async () => {
  const script = await assembleInstaller()
  expect(script).not.toMatch(/^# @/m)
  const source = readFileSync(join(FOLDER, 'install.sh'), 'utf8')
  const parts = [...source.matchAll(/^# @(.+)@$/gm)].map(([, name = '']) => name)
  expect(parts.toSorted()).toEqual(readdirSync(join(FOLDER, 'script')).sort())
  for (const name of parts) {
    const text = readFileSync(join(FOLDER, 'script', name), 'utf8')
    expect(script.split(text.trimEnd()), name).toHaveLength(2)
  }
  execFileSync('sh', ['-n'], { input: script })
  const functions = [...script.matchAll(/^(\w+)\(\) \{/gm)].map(([, name]) => name)
  expect(new Set(functions).size).toBe(functions.length)
})

test.each([
  ['--name=localhost', 'is not a DNS name'],
  ['--name=192.0.2.1', 'is not a DNS name'],
  ['--name=hub.example.com;id', 'is not a DNS name'],
  ['--name=-o.example.com', 'is not a DNS name'],
  ['--name=*.example.com', 'is not a DNS name'],
  ['--acme=http://ca.example', 'must be none or the https address'],
  ['--acme=https://ca.example/$(id)', 'is not the address'],
  ['--acme-email=--dry-run', 'is not an e-mail address'],
  ['--acme-email=ops', 'is not an e-mail address'],
])('the installer refuses %s before it does anything', async (option, message) => {
  const args = ['-s', '--', '--version=1.0.0', option]
  const { status, stderr } = spawnSync('sh', args, { input: await assembleInstaller() })
  expect(status).toBe(2)
  expect(String(stderr)).toContain(message)
})

test('an upgrade to nothing is refused: it would install the same version again', () => {
  const { status, stderr } = spawnSync('sh', [join(FOLDER, 'watchpost-hub'), 'upgrade'])
  expect(status).toBe(2)
  expect(String(stderr)).toContain('say to what, with --bundle=FILE or --version=VERSION')
})

test('no loop of the installer overwrites what an option says', async () => {
  const script = await assembleInstaller()
  const options = [...script.matchAll(/^ {2}(\w+)=\$\{WATCHPOST_/gm)].map(([, name]) => name)
  expect(options.length).toBeGreaterThan(10)
  const loops = [...script.matchAll(/\bfor (\w+) in\b|\bread -r (\w+)/g)].map(([, a, b]) => a ?? b)
  expect(loops.filter((name) => options.includes(name))).toEqual([])
})

/** Runs a part of the installer with steps of its own in place of those of the machine. */
async function runPart(script: string, folder: string) {
  const source = (await assembleInstaller()).replace(/^main "\$@"$/m, '')
  const stubs = `OPT=${folder}/opt WORK=${folder}/work LOG=${folder}/log
    log_ready= locked=1 bundle= offline= old=/releases/1 release_dir=/releases/2 target=2
    data_dir=${folder}/data mine=${folder}/data/.install rescue=$mine/postgres.before COMMAND=true
    mkdir -p $OPT $WORK $mine $data_dir/postgres
    systemctl() { echo "systemctl $*" >> ${folder}/did; }
    require_of() { :; }
    make_cluster() { :; }
    write_units() { :; }
    switch_to() { echo "switch_to $1" >> ${folder}/did; }
    prepare_database() { :; }
    set_model() { :; }
    start_hub() { :; }
  `
  const input = `${source}\n${stubs}\n${script}`
  const { status, stderr } = spawnSync('sh', [], { input, cwd: folder })
  const did = join(folder, 'did')
  const acts = existsSync(did) ? readFileSync(did, 'utf8').trim().split('\n') : []
  return { status, stderr: String(stderr), acts }
}
const START = 'start watchpost-postgres.service watchpost-model.service watchpost-hub.service'

describe('what fails in an upgrade', () => {
  let folder = ''
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'watchpost-installer-'))
    return () => rmSync(folder, { recursive: true })
  })

  test('a full disk: the copy of the database goes, and the hub runs again', async () => {
    const full =
      'cp() { mkdir -p "$rescue"; echo "No space left on device" >&2; return 1; }\nupgrade'
    const { status, stderr, acts } = await runPart(full, folder)
    expect(status).toBe(6)
    expect(stderr).toContain('could not be copied')
    expect(acts.at(-1)).toBe(`systemctl ${START}`)
    expect(existsSync(join(folder, 'data/.install/postgres.before'))).toBe(false)
    expect(acts.some((act) => act.startsWith('switch_to'))).toBe(false)
  })

  test('a database that does not start: the version before runs again', async () => {
    const fails = `cp() { mkdir -p "$rescue"; }
      systemctl() {
        echo "systemctl $*" >> ${folder}/did
        [ "$*" != 'start watchpost-postgres.service' ]
      }
      upgrade`
    const { status, stderr, acts } = await runPart(fails, folder)
    expect(status).toBe(10)
    expect(stderr).toContain('Version 1 is running again')
    expect(acts.slice(-2)).toEqual(['switch_to /releases/1', `systemctl ${START}`])
  })

  describe('an upgrade that was killed', () => {
    const killed = (isActive: boolean) => `mkdir -p "$rescue"
      echo before > "$rescue/rows"
      echo since > "$data_dir/postgres/rows"
      ln -s /releases/2 "$OPT/current"
      keep_fact upgrading_from /releases/1
      systemctl() {
        echo "systemctl $*" >> ${folder}/did
        case "$*" in *is-active*) ${isActive} ;; esac
      }
      settle_killed`
    const rows = (path: string) => readFileSync(join(folder, 'data', path, 'rows'), 'utf8').trim()
    const from = () => readFileSync(join(folder, 'opt/install.facts'), 'utf8')

    test('keeps the new version and its data, if it has been running since', async () => {
      const { status, acts } = await runPart(killed(true), folder)
      expect(status).toBe(0)
      expect(rows('postgres')).toBe('since')
      expect(acts).toEqual(['systemctl -q is-active watchpost-hub.service'])
      expect(existsSync(join(folder, 'data/.install/postgres.before'))).toBe(false)
      expect(from()).toBe('upgrading_from=\n')
    })

    test('is rolled back otherwise, and what it left is kept', async () => {
      const { status, acts } = await runPart(killed(false), folder)
      expect(status).toBe(0)
      expect(rows('postgres')).toBe('before')
      expect(rows('.install/postgres.interrupted')).toBe('since')
      expect(acts.slice(-2)).toEqual(['switch_to /releases/1', `systemctl ${START}`])
      expect(from()).toBe('upgrading_from=\n')
    })
  })

  test('an upgrade that was killed before the switch: the old version has worked with its database since', async () => {
    const killed = `mkdir -p "$rescue"
      echo since > "$data_dir/postgres/rows"
      ln -s /releases/1 "$OPT/current"
      keep_fact upgrading_from /releases/1
      settle_killed`
    expect((await runPart(killed, folder)).status).toBe(0)
    expect(readFileSync(join(folder, 'data/postgres/rows'), 'utf8')).toBe('since\n')
    expect(readdirSync(join(folder, 'data/.install'))).toEqual([])
  })

  test('an upgrade that was killed is not rolled back after an uninstallation: its release is gone', async () => {
    const uninstall = (more: string) => `mkdir -p "$rescue"
      echo before > "$rescue/rows"
      echo since > "$data_dir/postgres/rows"
      keep_fact upgrading_from /releases/1
      ${more}
      ETC=${folder}/etc UNITS=${folder}/units CRON=${folder}/cron SITE=${folder}/site
      COMMAND=${folder}/command RENEWED=${folder}/renewed ANSWERS=${folder}/acme purge= yes=1
      certbot() { :; }
      uninstall_hub
      old=$(fact upgrading_from)
      [ -z "$old" ] || echo 'rolled back' >> ${folder}/did`
    const rows = () => readFileSync(join(folder, 'data/postgres/rows'), 'utf8')
    const { status, stderr, acts } = await runPart(uninstall(''), folder)
    expect(status, stderr).toBe(0)
    expect([rows(), acts]).toEqual(['since\n', ['systemctl daemon-reload']])
    // Killed in the middle of a roll-back, there is the copy alone.
    await runPart(uninstall('rm -r "$data_dir/postgres"'), folder)
    expect(rows()).toBe('before\n')
    expect(existsSync(join(folder, 'data/.install/postgres.before'))).toBe(false)
  })

  test.each([
    ['answers three times in a row', 'no yes yes no yes yes yes yes', 0, 7],
    ['fails again and again as it starts', 'yes no '.repeat(60), 1, 120],
  ])('the new version %s: that is known', async (_, answers, code, asked) => {
    const script = `mkdir -p $OPT/current/bin
      printf '%s\\n' ${answers} > ${folder}/answers
      cat > $OPT/current/bin/node <<'END'
#!/bin/sh
echo asked >> ${folder}/did
[ "$(sed -n "$(wc -l < ${folder}/did)p" ${folder}/answers)" = yes ]
END
      chmod +x $OPT/current/bin/node
      sleep() { :; }
      is_healthy`
    const { status, acts } = await runPart(script, folder)
    expect([status, acts.length]).toEqual([code, asked])
  })

  test('a damaged download: the next run downloads it anew, and a bundle that was given stays', async () => {
    const own = join(folder, 'own.tar.gz')
    writeFileSync(own, 'x')
    const given = await runPart(`bundle=${own}\nverify_bundle`, folder)
    expect(given).toMatchObject({ status: 8, stderr: expect.stringContaining('damaged') })
    expect(existsSync(own)).toBe(true)
    const loaded = join(folder, 'work/watchpost-hub-2-linux-x64.tar.gz')
    const script = `echo x > ${loaded}\nbundle=${loaded}\nverify_bundle`
    expect((await runPart(script, folder)).status).toBe(8)
    expect(existsSync(loaded)).toBe(false)
  })
})
