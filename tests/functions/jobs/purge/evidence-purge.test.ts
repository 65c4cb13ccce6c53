import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { checkEvidence } from '../../../../shared/evidence/evidence-check.ts'
import {
  evidenceOf,
  fixture,
  freeze,
  keys,
  patch,
  raised,
  useFixture,
} from '../../api/evidence-scene.ts'

useFixture()

describe('before something is deleted', () => {
  const purge = async () => {
    await fixture.query(
      `select private.enqueue('purge', gen_random_uuid(), '{}', p_singleton => 'purge')`,
    )
    await fixture.jobs.drain()
  }
  const count = async (table: string, column: string, id: unknown) =>
    (await fixture.query(`select from watchpost.${table} where ${column} = $1`, [id])).length

  test('a record holds it, also of an alert that nobody resolved', async () => {
    const made = await raised()
    await fixture.query(
      `update watchpost.delivery_attempts set at = now() - interval '31 days' where delivery_id = $1`,
      [made.delivery],
    )
    await purge()
    expect(await count('delivery_attempts', 'delivery_id', made.delivery)).toBe(0)
    const kept = await evidenceOf(made, '?record=1')
    expect(kept.evidence).toMatchObject({
      because: 'before_purge',
      deliveries: [{ attempts: [{ attempt: 1 }] }],
    })
    expect(await checkEvidence(kept.text, await keys())).toMatchObject({ ok: true })

    const event = z
      .string()
      .parse(
        (
          await fixture.query('select event_id from watchpost.alerts where id = $1', [made.alert])
        )[0]?.event_id,
      )
    await fixture.query(
      `update watchpost.event_revisions set first_seen_at = now() - interval '101 days' where event_id = $1`,
      [event],
    )
    await purge()
    expect(await count('event_revisions', 'event_id', event)).toBe(0)
    await patch(made, { resolved: true })
    await freeze()
    const settled = await evidenceOf(made)
    expect(settled.evidence).toMatchObject({
      ...{ state: 'final', because: 'settled', number: 2 },
      deliveries: [{ attempts: [{ attempt: 1 }] }],
      revisions: [{ revision: 1 }],
    })
  })

  test('nothing is deleted while no record holds it', async () => {
    const made = await raised()
    await fixture.query(
      `update watchpost.delivery_attempts set at = now() - interval '31 days' where delivery_id = $1`,
      [made.delivery],
    )
    await fixture.query(
      `update watchpost.event_revisions r set first_seen_at = now() - interval '101 days'
      from watchpost.alerts a where a.id = $1 and r.event_id = a.event_id`,
      [made.alert],
    )
    await fixture.query('select private.purge()')
    expect(await count('delivery_attempts', 'delivery_id', made.delivery)).toBe(1)
    const [left] = await fixture.query(
      'select count(*)::integer as n from watchpost.event_revisions r join watchpost.alerts a on a.event_id = r.event_id where a.id = $1',
      [made.alert],
    )
    expect(left).toEqual({ n: 1 })
  })

  test('an attempt after the last record is not held by it', async () => {
    const made = await raised()
    await patch(made, { resolved: true })
    await freeze()
    const late = `insert into watchpost.delivery_attempts (delivery_id, attempt, outcome, duration_ms, at)
      values ($1, 2, 'ok', 1, now() - interval '31 days')`
    await fixture.query(late, [made.delivery])
    await fixture.query(
      `update watchpost.evidence set read_at = now() - interval '40 days' where alert_id = $1`,
      [made.alert],
    )
    await purge()
    expect((await evidenceOf(made)).evidence.deliveries[0]?.attempts).toHaveLength(2)
  })
})
