import { expect, test } from 'vitest'
import { z } from 'zod'
import { quake } from '../support/jobs.ts'
import { type Person, parsed } from '../support/service.ts'
import { createStory } from '../support/story.ts'

// A team wants quiet nights in the week and quiet weekends, and one digest afterwards.
let person: Person
const at = createStory({
  prepare: async ({ service, channelOf }) => {
    person = await service.person()
    await channelOf(person)
  },
})

const Zone = z.object({
  zone: z.object({ id: z.uuid(), quiet_windows: z.array(z.unknown()).nullable() }),
})
const Alerts = z.object({
  alerts: z.array(
    z.object({ event_id: z.string(), status: z.string(), held_until: z.string().nullable() }),
  ),
})
const Explained = z.object({ checks: z.array(z.object({ name: z.string() }).loose()) })

const WORKDAYS = ['mon', 'tue', 'wed', 'thu']
const WINDOWS = [
  { days: WORKDAYS, start: '22:00', end: '07:00' },
  { days: ['fri'], start: '22:00', end: '24:00' },
  { days: ['sat', 'sun'], start: '00:00', end: '24:00' },
]
const HERE = { lat: -30, lon: 70 }

/** The last Wednesday that is at least three days ago, in UTC. */
function wednesday(time: string): string {
  const day = new Date(Date.now() - 3 * 86_400_000)
  day.setUTCDate(day.getUTCDate() - ((day.getUTCDay() + 4) % 7))
  return `${day.toISOString().slice(0, 10)}T${time}:00.000Z`
}
const daysAfter = (time: string, days: number) =>
  new Date(Date.parse(time) + days * 86_400_000).toISOString()

test('what comes on a night or a weekend is held until its end, the rest goes out', async () => {
  const made = await at.ask(person, 'POST', 'zones', {
    label: 'Office',
    ...HERE,
    quiet_windows: WINDOWS,
  })
  const { zone } = parsed(made, 201, Zone)
  expect(zone.quiet_windows).toEqual(WINDOWS)
  await at.jobs.drain()
  await at.query(
    `update watchpost.zone_versions set valid_from = now() - interval '30 days' where zone_id = $1`,
    [zone.id],
  )
  // Saturday is three days after; the window of the weekend opens on Friday at 22:00.
  const seen: [when: string, held_until: string | null][] = [
    [wednesday('12:00'), null],
    [wednesday('23:00'), daysAfter(wednesday('07:00'), 1)],
    [daysAfter(wednesday('12:00'), -3), daysAfter(wednesday('00:00'), -2)],
    [daysAfter(wednesday('23:00'), -5), daysAfter(wednesday('00:00'), -2)],
  ]
  // Nothing is released meanwhile: these days are over.
  await at.query(`create function public.later() returns trigger language plpgsql as
    $$ begin new.start_after := now() + interval '1 year'; return new; end $$`)
  await at.query(`create trigger later before insert on pgboss.job for each row
    when (new.name = 'release') execute function public.later()`)
  for (const [when, held_until] of seen) {
    const event = quake({ ...HERE, ts: when })
    await at.jobs.ingest({ ...event, first_seen_at: when })
    await at.jobs.drain()
    const listed = await at.ask(person, 'GET', `alerts?zone_id=${zone.id}&days=90`)
    const alert = parsed(listed, 200, Alerts).alerts.find(({ event_id }) => event_id === event.id)
    expect([when, alert?.held_until]).toEqual([when, held_until])
    const explained = await at.ask(person, 'GET', `zones/${zone.id}/explain?event_id=${event.id}`)
    expect(parsed(explained, 200, Explained).checks.at(-1)).toMatchObject({
      name: 'quiet_hours',
      passed: held_until === null,
      window_end: held_until,
    })
  }
  const preview = await at.ask(person, 'GET', `zones/${zone.id}/preview?days=90`)
  expect(preview.body).toMatchObject({ count: 1, suppressed: { quiet_hours: 3 } })
})

test('impossible windows are refused with the way out', async () => {
  const refusals: [object, string, RegExp][] = [
    [
      { quiet_windows: WINDOWS, quiet_hours_start: '22:00', quiet_hours_end: '07:00' },
      'quiet_windows',
      /replaces quiet_hours_start/,
    ],
    [
      { quiet_windows: [{ days: ['sat'], start: '00:00', end: '00:00' }] },
      'quiet_windows.0.end',
      /"24:00"/,
    ],
    [
      {
        quiet_windows: [{ days: [...WORKDAYS, 'fri', 'sat', 'sun'], start: '00:00', end: '24:00' }],
      },
      'quiet_windows',
      /no minute of the week/,
    ],
    [
      { quiet_windows: [{ days: ['someday'], start: '00:00', end: '07:00' }] },
      'quiet_windows.0.days.0',
      /mon/,
    ],
    [{ quiet_windows: [{ days: [], start: '00:00', end: '07:00' }] }, 'quiet_windows.0.days', /./],
    [{ quiet_windows: [] }, 'quiet_windows', /./],
    [{ quiet_windows: Array.from({ length: 9 }, () => WINDOWS[1]) }, 'quiet_windows', /./],
    [
      { quiet_windows: [{ days: ['sat'], start: '24:00', end: '07:00' }] },
      'quiet_windows.0.start',
      /HH:MM/,
    ],
  ]
  for (const [fields, path, message] of refusals) {
    const answer = await at.ask(person, 'POST', 'zones', { label: 'Refused', ...HERE, ...fields })
    expect(answer).toMatchObject({
      status: 422,
      body: { errors: [{ path, message: expect.stringMatching(message) }] },
    })
  }
})

test('a zone with daily hours gets windows when the hours are cleared with them, and back', async () => {
  const hours = { quiet_hours_start: '22:00', quiet_hours_end: '07:00' }
  const made = await at.ask(person, 'POST', 'zones', { label: 'Both', ...HERE, ...hours })
  const { id } = parsed(made, 201, Zone).zone
  const refused = await at.ask(person, 'PATCH', `zones/${id}`, { quiet_windows: WINDOWS })
  expect(refused).toMatchObject({ status: 422, body: { errors: [{ path: 'quiet_windows' }] } })
  const none = { quiet_hours_start: null, quiet_hours_end: null }
  const changed = await at.ask(person, 'PATCH', `zones/${id}`, { quiet_windows: WINDOWS, ...none })
  expect(changed).toMatchObject({
    status: 200,
    body: { zone: { quiet_windows: WINDOWS, ...none } },
  })
  const back = await at.ask(person, 'PATCH', `zones/${id}`, { quiet_windows: null, ...hours })
  expect(back).toMatchObject({ status: 200, body: { zone: { quiet_windows: null, ...hours } } })
})
