import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  type Bundles,
  health,
  installCommand,
  type Measurements,
  runOk,
  secretsOf,
  sqlOf,
  stepLines,
  withMachine,
} from './installed.ts'
import type { Machine } from './machine.ts'

/** Writes a copy of install.sh that is killed after one of its lines. */
async function killedBehind(machine: Machine, lines: string[], index: number): Promise<void> {
  const killed = lines.toSpliced(index + 1, 0, '  kill -9 $$').join('\n')
  await writeFile(join(machine.root, 'root/killed.sh'), killed)
  console.log(`  ${lines[index]?.trim()}`)
}

const killedInstall = (version: string) =>
  installCommand(version, '--model=none').replace('/root/install.sh', '/root/killed.sh')

/** Kills the script once after every step of an installation. */
export async function killedAnywhere(base: string, bundles: Bundles): Promise<Measurements> {
  const lines = (await readFile(bundles.installer, 'utf8')).split('\n')
  const steps = [
    ...stepLines(
      lines,
      'install_hub',
      /^ {2}(fetch_|verify_|make_|keep_fact data_dir|unpack|write_)/,
    ),
    ...stepLines(lines, 'first', /^ {2}(make_|switch_|write_|start_database|prepare_|set_model)/),
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
      await runOk(machine, installCommand('1.0.0', '--model=none'))
      await health(machine)
      secrets ??= await secretsOf(machine)
      assert.equal(await secretsOf(machine), secrets)
      await runOk(machine, 'watchpost-hub uninstall')
    }
  })
  return { killed_after: steps.length }
}

/**
 * Kills it after every step of an upgrade: the next run must end at the new version, with all data.
 */
export async function killedUpgrade(base: string, bundles: Bundles): Promise<Measurements> {
  const lines = (await readFile(bundles.installer, 'utf8')).split('\n')
  const steps = stepLines(lines, 'upgrade', /^ {2}(cp -a|keep_fact|switch_to|start_database)/)
  assert.equal(steps.length, 4)
  for (const index of steps) {
    await withMachine(base, bundles, async (machine) => {
      await runOk(machine, installCommand('1.0.0', '--model=none'))
      await runOk(machine, sqlOf('create table public.marker ()'))
      const secrets = await secretsOf(machine)
      await killedBehind(machine, lines, index)
      assert.notEqual((await machine.sh(killedInstall('1.1.0'))).code, 0)
      await runOk(machine, installCommand('1.1.0'))
      assert.equal((await health(machine)).version, '1.1.0')
      assert.equal(await secretsOf(machine), secrets)
      await runOk(machine, sqlOf('select from public.marker, hub.probe'))
      await runOk(machine, '! test -e /var/lib/watchpost/.install/postgres.before')
    })
  }
  return { upgrades_killed: steps.length }
}
