import { expect, test } from 'vitest'
import type { ActionName } from '../../../../hub/agents/actions.ts'
import { findingsOf, fixesOf, shownMeasures } from '../../../../hub/agents/health/findings.ts'

const WELL = {
  disk_free_percent: 40,
  disk_free_mib: 40_000,
  memory_free_mib: 4000,
  memory_total_mib: 8000,
  model_state: 'ready',
  backups: 3,
  backup_due: 'false',
  missions_queued: 0,
  missions_processing: 1,
  missions_failed_24h: 0,
}

test.each<
  [name: string, measured: object, says: RegExp | undefined, fix: ActionName[], alert?: string]
>([
  ['all is well', {}, undefined, []],
  [
    'nothing is known',
    Object.fromEntries(Object.keys(WELL).map((name) => [name, null])),
    undefined,
    [],
  ],
  ['the model crashed', { model_state: 'crashed' }, /crashed/, ['restart_model']],
  ['the model is away', { model_state: 'unreachable' }, /reached/, ['restart_model']],
  ['there is no model', { model_state: 'none' }, /Settings > Models/, []],
  ['the model starts', { model_state: 'starting' }, undefined, []],
  ['5 % of the disk', { disk_free_percent: 5 }, undefined, []],
  ['4 % of the disk', { disk_free_percent: 4 }, /^4 % of the disk/, ['delete_old_backups']],
  ['a small disk', { disk_free_mib: 2047 }, /^2047 MiB of the disk/, ['delete_old_backups']],
  ['measures without a value', { disk_free_percent: '', disk_free_mib: '' }, undefined, []],
  [
    '5 % of a small disk',
    { disk_free_percent: 5, disk_free_mib: 100 },
    /^100 MiB/,
    ['delete_old_backups'],
  ],
  ['5 % of the memory', { memory_free_mib: 400 }, undefined, []],
  ['memory of an unknown size', { memory_total_mib: null, memory_free_mib: 1 }, undefined, []],
  ['an empty queue', {}, undefined, [], 'queue'],
  [
    'a queue without a model',
    { missions_queued: 3, model_state: 'starting' },
    undefined,
    [],
    'queue',
  ],
  ['one backup only', { disk_free_percent: 4, backups: 1 }, /of the disk/, []],
  ['little memory', { memory_free_mib: 300 }, /^4 % of the memory/, []],
  ['a backup is due', { backup_due: 'true' }, /due/, ['run_backup']],
  ['no space for it', { backup_due: 'true', disk_free_percent: 1, backups: 1 }, /due/, []],
  ['missions failed', { missions_failed_24h: 2 }, /^2 missions/, ['retry_failed_missions']],
  ['they would fail again', { missions_failed_24h: 2, model_state: 'none' }, /^2 missions/, []],
  ['a queue', { missions_queued: 3 }, undefined, []],
  ['a stuck queue', { missions_queued: 3 }, /^3 missions wait/, ['restart_hub'], 'queue'],
  ['a queue that moves', { missions_queued: 3, missions_processing: 2 }, undefined, [], 'queue'],
  ['mail', {}, /Mail/, ['pause_mail'], 'mail'],
])('%s', (_, measured, says, fix, kind) => {
  const findings = findingsOf({ ...WELL, ...measured }, kind ? { kind } : undefined)
  if (says) expect(findings.map((one) => one.says.en)).toContainEqual(expect.stringMatching(says))
  else expect(findings).toEqual([])
  expect(fixesOf(findings, 'tr').map(({ action }) => action)).toEqual(fix)
})

test('at most three actions are proposed, each once', () => {
  const bad = { ...WELL, model_state: 'crashed', disk_free_percent: 1, backup_due: 'true' }
  const findings = findingsOf(bad, { kind: 'mail' })
  expect(fixesOf([...findings, ...findings], 'en').map(({ action }) => action)).toEqual([
    'delete_old_backups',
    'restart_model',
    'pause_mail',
  ])
})

test('what was measured has the reader’s names', () => {
  expect(shownMeasures({ model_state: 'crashed', backups: 2, other: null }, 'tr')).toEqual([
    ['Model', 'çöktü'],
    ['Yedek sayısı', 2],
    ['other', '–'],
  ])
})
