/** Tests the installer against the hub's own user, who creates links after every step. */
import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  type Bundles,
  installCommand,
  type Measurements,
  runOk,
  stepLines,
  upgradeCommand,
  withMachine,
} from './installed.ts'
import type { Machine } from './machine.ts'

const SECRET = 'only root may read this'

/**
 * A folder of root's: everything that a link could make the installer change, own, fill or reveal.
 */
const CANARY = `
rm -rf /canary && mkdir -m 700 /canary /canary/sub
printf '%s' '${SECRET}' > /canary/file && printf '{"hosts": ["${SECRET}"]}' > /canary/json
chmod 600 /canary/file /canary/json`

/** Run as the service's users: replaces every folder and file that they can move by a link. */
const SWAP = `
at=/var/lib/watchpost
for name in projects models backups postgres postgres.new postgres.before postgres.failed .install; do
  mv -T $at/$name $at/$name.was; ln -sn /canary $at/$name
done
for name in postgres.new postgres.before postgres.failed; do
  mv -T $at/.install/$name $at/.install/$name.was; ln -sn /canary $at/.install/$name
done
for name in postgresql.conf pg_hba.conf pg_ident.conf postgresql.conf.new pg_hba.conf.new pg_ident.conf.new; do
  ln -sfn /canary/file $at/postgres/$name
done
for name in models.json.new hub.token public.key service.key database.key admin.json setup.code; do
  ln -sfn /canary/file /etc/watchpost/$name
done
ln -sfn /canary/json /etc/watchpost/hub.json
mv -T /etc/watchpost/tls /etc/watchpost/tls.was; ln -sn /canary /etc/watchpost/tls
mv -T /opt/ceo-runner/prompts /opt/ceo-runner/prompts.was; ln -sn /canary /opt/ceo-runner/prompts
for name in tiny.gguf tiny.gguf.new; do ln -sfn /canary/file $at/models/$name; done`

const ATTACK = `#!/bin/sh
for user in watchpost watchpost-db; do
  setpriv --reuid=$user --regid=$user --clear-groups sh /usr/local/share/swap.sh > /dev/null 2>&1 || :
done
`

/** Names, owners, modes, times and contents of root's files. */
const stateOf = (machine: Machine) =>
  runOk(
    machine,
    `find /canary -printf '%p %u %g %m %T@ %C@ %s\\n' | sort; sha256sum /canary/file /canary/json`,
  )

/**
 * After every step of an installation and of an upgrade, the hub's users create their links once.
 */
export async function proveLinks(base: string, bundles: Bundles): Promise<Measurements> {
  const lines = (await readFile(bundles.installer, 'utf8')).split('\n')
  const install = [
    ...stepLines(lines, 'install_hub', /^ {2}(make_|keep_fact data_dir|unpack|write_|remove_)/),
    ...stepLines(
      lines,
      'first',
      /^ {2}(make_|switch_|write_|start_|prepare_|set_model|fetch_model)/,
    ),
    ...stepLines(lines, 'make_folders', /^ {2}(install|mkdir|require_of)/),
  ]
  const upgrade = stepLines(
    lines,
    'upgrade',
    /^ {2}(rm|cp -a|keep_fact|make_|switch_|write_|start_)/,
  )
  assert.ok(install.length >= 15 && upgrade.length >= 6)
  await withMachine(base, bundles, async (machine) => {
    await writeFile(join(machine.root, 'usr/local/share/swap.sh'), SWAP)
    await writeFile(join(machine.root, 'root/attack.sh'), ATTACK)
    for (const index of install) {
      await attackAfterStep(machine, lines, index, {
        before: ':',
        run: `sh /root/attacked.sh --bundle=/root/watchpost-hub-1.0.0-linux-x64.tar.gz --offline --yes --model=/root/tiny.gguf --bind=0.0.0.0`,
      })
    }
    for (const index of upgrade) {
      await attackAfterStep(machine, lines, index, {
        before: installCommand('1.0.0', '--model=none'),
        run: `sh /root/attacked.sh --bundle=/root/watchpost-hub-1.1.0-linux-x64.tar.gz --offline --yes`,
      })
    }
    // And before the upgrade: what a hub that was taken over could have prepared.
    await attackAfterStep(machine, lines, undefined, {
      before: installCommand('1.0.0', '--model=none'),
      run: `sh /root/attack.sh; ${upgradeCommand('1.1.0')}`,
    })
  })
  return { links_laid_behind: install.length + upgrade.length + 1 }
}

async function attackAfterStep(
  machine: Machine,
  lines: string[],
  index: number | undefined,
  { before, run }: { before: string; run: string },
): Promise<void> {
  const at = index === undefined ? 'before the upgrade' : (lines[index]?.trim() ?? '')
  console.log(`  ${at}`)
  await runOk(machine, CANARY)
  await runOk(machine, before)
  if (index !== undefined) {
    const attacked = lines.toSpliced(index + 1, 0, '  sh /root/attack.sh')
    await writeFile(join(machine.root, 'root/attacked.sh'), attacked.join('\n'))
  }
  const state = await stateOf(machine)
  const ran = await machine.sh(run)
  const told = ran.stdout + ran.stderr
  console.log(
    `    ended with ${ran.code}${ran.code === 0 ? '' : `: ${ran.stderr.trim().split('\n').at(-1)}`}`,
  )
  // It may refuse to continue, but then it says why, and root's files are unchanged.
  assert.ok(ran.code === 0 || ran.stderr !== '', `${at}: ${ran.code}\n${told}`)
  assert.equal(await stateOf(machine), state, `${at}\n${told}`)
  const leaked = await machine.sh(
    `setpriv --reuid=watchpost --regid=watchpost --clear-groups grep -rls '${SECRET}' /etc/watchpost /var/lib/watchpost /opt/ceo-runner`,
  )
  assert.equal(leaked.stdout, '', `${at}: what is root's can be read\n${told}`)
  await runOk(machine, 'sh /root/install.sh --uninstall --purge --yes')
  assert.equal(await stateOf(machine), state, `${at}, removed`)
}
