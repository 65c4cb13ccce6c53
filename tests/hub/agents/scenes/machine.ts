import type { Scene } from '../run-alone.ts'
import { said } from './material.ts'

/** Agents that look at data, at code and at the hub. */
export const MACHINE: Record<string, Scene> = {
  'system/alert': {
    agent: 'system',
    task: said('the disk is full', 'disk dolu'),
    input: { alert: { kind: 'disk', message: 'less than 1 GB' } },
    answers: {
      diagnosis: {
        explanation: 'Backups: disk 900 MiB.',
        severity: 'high',
        proposals: [
          { action: 'delete_old_backups', why: 'They are old' },
          { action: 'delete_old_backups', why: 'again' },
          { action: 'restart_model', why: 'It hangs' },
        ],
      },
    },
    more: {
      actions: {
        run: { delete_old_backups: async () => ({ en: '', tr: '' }) },
        allowed: async () => ({ web: 'deny', engineer_system: false }),
        search: async () => ({ results: [] }),
        health: async () => ({ disk_free_mib: 900, model: null }),
      },
    },
  },
  'system/no-model': {
    agent: 'system',
    task: said('the model crashed', 'model çöktü'),
    input: { alert: { kind: 'model', message: 'The model crashed: out of memory' } },
    more: {
      actions: {
        run: { restart_model: async () => ({ en: '', tr: '' }) },
        allowed: async () => ({ web: 'deny', engineer_system: false }),
        search: async () => ({ results: [] }),
        health: async () => ({
          disk_free_percent: 40,
          model_state: 'crashed',
          missions_failed_24h: 2,
          backup_due: 'true',
        }),
      },
    },
  },
  'system/quiet': {
    agent: 'system',
    task: said('is all well?', 'her şey iyi mi?'),
    answers: {
      diagnosis: { explanation: 'Hub: disk OK.', severity: 'low', proposals: [] },
    },
  },
  'data/known': {
    agent: 'data',
    task: said('How many leads are in each stage?', 'hangi aşamada kaç adayımız var'),
    more: {
      query: async () => ({
        columns: ['Stage', 'Leads'],
        rows: [
          ['won', 2],
          ['new', '5'],
          ['lost', 3],
        ],
        is_cut: false,
      }),
    },
  },
  'data/chart': {
    agent: 'data',
    task: said('leads by stage and day', 'aşama ve güne göre adaylar'),
    answers: {
      query: [
        { title: 'By stage', sql: 'delete from leads', chart: 'bar' },
        { title: 'By stage', sql: "select ';' as a from leads;", chart: 'bar' },
      ],
    },
    more: {
      query: async () => ({
        columns: ['Stage', 'At', 'Why', 'Leads'],
        rows: [
          ['new', new Date('2026-03-01T00:00:00Z'), { en: 'yes', tr: 'evet' }, '5'],
          ['won', null, { other: 1 }, 2],
          ['lost', true, undefined, '3'],
        ],
        is_cut: true,
      }),
    },
  },
  'data/none': {
    agent: 'data',
    task: said('leads in Bursa', 'Bursa’daki adaylar'),
    answers: {
      query: { title: 'By stage', sql: 'select 1 as a', chart: 'line' },
    },
  },
  'data/fails': {
    agent: 'data',
    task: said('leads in Bursa', 'Bursa’daki adaylar'),
    answers: {
      query: [
        { title: 'By stage', sql: 'select 1; select 2', chart: 'none' },
        { title: 'By stage', sql: 'select 1; select 2', chart: 'none' },
      ],
      'query again': [
        { title: 'By stage', sql: 'drop table leads', chart: 'none' },
        { title: 'By stage', sql: 'drop table leads', chart: 'none' },
      ],
    },
  },
  'engineer/patch': {
    agent: 'engineer',
    task: said('total should skip None', 'total None’ı atlasın'),
    files: {
      'code/total.py': 'def total(items):\n    return sum(items)\n',
      'docs/plan.md': 'Not code.\n',
    },
    answers: {
      plan: [
        { title: 'Skip', summary: 'x', change: ['none'], create: [] },
        { title: 'Skip None', summary: 'total skips None', change: ['F1'], create: ['tests/a.py'] },
      ],
      'edit total.py': [
        { edits: [{ find: 'sum(x)', replace: 'y' }] },
        { edits: [{ find: 'sum(items)', replace: 'sum(i for i in items if i)' }] },
      ],
      'create tests/a.py': { lines: ['from total import total\n', 'total([])'] },
    },
  },
  'engineer/nothing-new': {
    agent: 'engineer',
    task: said('change it', 'değiştir'),
    files: { 'code/total.py': 'x\n' },
    answers: {
      plan: [
        { title: 'Evil', summary: 'x', change: [], create: ['../x.py'] },
        { title: 'Same', summary: 'the same', change: ['F1'], create: [] },
      ],
      'edit total.py': { edits: [{ find: 'x', replace: 'x' }] },
    },
  },
  'engineer/too-long': {
    agent: 'engineer',
    task: said('change it', 'değiştir'),
    files: { 'code/total.py': 'x'.repeat(6001) },
    answers: { plan: { title: 'Cut', summary: 'shorter', change: ['F1'], create: [] } },
  },
  'engineer_system/off': { agent: 'engineer_system', task: said('log more', 'daha çok yaz') },
}
