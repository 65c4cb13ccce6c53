import { describe, expect, it } from 'vitest'
import type { z } from 'zod'
import {
  AccountDelete,
  InviteAccept,
  KeyCreate,
  OrgCreate,
  OrgPatch,
  OrgTransfer,
} from '../../../shared/schemas/account.ts'
import { AlertPatch, Redelivery } from '../../../shared/schemas/alert.ts'
import {
  ChannelCreate,
  ChannelPatch,
  DEFAULT_MESSAGES,
  Recovery,
} from '../../../shared/schemas/channel.ts'
import { DrillRequest } from '../../../shared/schemas/drill.ts'
import { FeedLinkCreate } from '../../../shared/schemas/feed-link.ts'
import { MemberInvite, MemberPatch } from '../../../shared/schemas/organisation.ts'
import { ZoneCreate } from '../../../shared/schemas/zone.ts'
import '../../../shared/words/issue-words.ts'
import { ZoneBulk, ZoneBulkRow } from '../../../shared/schemas/zone-bulk.ts'

const ID = '00000000-0000-4000-8000-000000000001'
const LONG_EMAIL = `${'a'.repeat(64)}@${'b'.repeat(60)}.${'c'.repeat(60)}.${'d'.repeat(60)}.com`
const text = (length: number) => 'x'.repeat(length)
const times = <T>(count: number, value: T): T[] => Array.from({ length: count }, () => value)

const SCHEMAS = {
  AccountDelete: [AccountDelete, {}],
  AlertPatch: [AlertPatch, {}],
  ChannelCreate: [ChannelCreate, { kind: 'webhook', target: 'https://example.com' }],
  ChannelPatch: [ChannelPatch, {}],
  DrillRequest: [DrillRequest, {}],
  FeedLinkCreate: [FeedLinkCreate, {}],
  InviteAccept: [InviteAccept, {}],
  KeyCreate: [KeyCreate, { name: 'Night shift', scopes: ['read'] }],
  MemberInvite: [MemberInvite, { email: 'ayse@example.com', role: 'member' }],
  MemberPatch: [MemberPatch, {}],
  OrgCreate: [OrgCreate, {}],
  OrgPatch: [OrgPatch, {}],
  OrgTransfer: [OrgTransfer, {}],
  Recovery: [Recovery, {}],
  Redelivery: [Redelivery, {}],
  ZoneBulk: [ZoneBulk, { zones: [{}] }],
  ZoneBulkRow: [ZoneBulkRow, { external_id: 'store-1' }],
  ZoneCreate: [ZoneCreate, { label: 'Home', lat: 5, lon: 5 }],
} satisfies Record<string, [z.ZodType, object]>
type Name = keyof typeof SCHEMAS

function issuesOf(name: Name, given: object) {
  const [schema, rest] = SCHEMAS[name]
  const { error } = schema.safeParse({ ...rest, ...given })
  return (error?.issues ?? []).map(({ path, message }) => `${path.join('.')}: ${message}`)
}

describe('a body takes', () => {
  it.each<[Name, string, unknown[]]>([
    ['AccountDelete', 'confirm', ['', text(254)]],
    ['AlertPatch', 'resolved', [true, false, undefined]],
    ['AlertPatch', 'note', [null, '', 'two\nlines', text(4000), undefined]],
    ['ChannelCreate', 'kind', ['x', text(32)]],
    ['ChannelCreate', 'target', ['x', text(2048)]],
    ['ChannelCreate', 'label', [null, 'x', 'On call', text(120), undefined]],
    ['ChannelCreate', 'config', [null, {}, { headers: { a: 1 } }, undefined]],
    ['ChannelCreate', 'org_id', [null, ID, undefined]],
    ['ChannelCreate', 'messages', [null, ['alert.raised'], undefined]],
    ['ChannelCreate', 'language', ['en', 'tr', undefined]],
    ['ChannelCreate', 'time_zone', ['UTC', 'Europe/Istanbul', undefined]],
    ['ChannelCreate', 'signing_secret', ['', text(200), undefined]],
    ['ChannelPatch', 'target', ['x', text(2048), undefined]],
    ['ChannelPatch', 'label', [null, text(120), undefined]],
    ['ChannelPatch', 'messages', [null, ['alert.raised', 'alert.revised']]],
    ['ChannelPatch', 'enabled', [true, false, undefined]],
    ['ChannelPatch', 'kind', ['anything', 1, null]],
    ['DrillRequest', 'type', ['storm', undefined]],
    ['DrillRequest', 'source', ['usgs', 'custom:buoys', text(64), undefined]],
    ['DrillRequest', 'severity', [0, 100, undefined]],
    ['FeedLinkCreate', 'label', [null, 'x', text(120), undefined]],
    ['InviteAccept', 'token', ['x', text(200)]],
    ['InviteAccept', 'id', [ID]],
    ['KeyCreate', 'name', ['x', 'Nöbet ekranı', text(120)]],
    ['KeyCreate', 'scopes', [['read'], ['write'], ['ingest'], ['read', 'write', 'ingest']]],
    ['KeyCreate', 'expires_at', [null, '2030-01-01T00:00:00+02:00', undefined]],
    ['MemberInvite', 'email', ['a@example.com', LONG_EMAIL]],
    ['MemberInvite', 'role', ['admin', 'member']],
    ['MemberPatch', 'role', ['owner', 'admin', 'member', undefined]],
    ['OrgCreate', 'name', ['x', text(120)]],
    ['OrgPatch', 'name', ['x', text(120), undefined]],
    ['OrgTransfer', 'user_id', [ID]],
    ['Recovery', 'since', ['2026-01-01T00:00:00Z', new Date().toISOString()]],
    ['Redelivery', 'delivery_ids', [[ID], times(100, ID), undefined]],
    ['ZoneBulk', 'zones', [[1], times(1000, {})]],
    ['ZoneBulk', 'dry_run', [true, false, undefined]],
    ['ZoneBulkRow', 'external_id', ['x', text(200)]],
    ['ZoneBulkRow', 'label', ['x', undefined]],
    ['ZoneCreate', 'label', ['x', text(120)]],
    ['ZoneCreate', 'lat', [-90, 90]],
    ['ZoneCreate', 'lon', [-180, 180]],
    ['ZoneCreate', 'radius_km', [0.1, 5000, undefined]],
    ['ZoneCreate', 'match', ['point', 'footprint']],
    ['ZoneCreate', 'min_severity', [0, 100]],
    ['ZoneCreate', 'severity_multiplier', [0.1, 5]],
    ['ZoneCreate', 'dwell_minutes', [0, 10_080]],
    ['ZoneCreate', 'quiet_hours_start', [null, '00:00', '23:59']],
    ['ZoneCreate', 'quiet_hours_tz', ['x', text(64)]],
    ['ZoneCreate', 'quiet_mode', ['hold', 'drop']],
    ['ZoneCreate', 'emergency_severity', [null, 0, 100]],
    ['ZoneCreate', 'max_alerts_per_hour', [null, 1, 1000]],
    ['ZoneCreate', 'escalation', [null, [{ after_minutes: 1, channel_ids: [] }]]],
    ['ZoneCreate', 'escalation', [times(5, { after_minutes: 1440, channel_ids: times(100, ID) })]],
    ['ZoneCreate', 'color', [null, '#d9480f', '#D9480F']],
    ['ZoneCreate', 'icon', [null, 'anchor-2', text(32)]],
    ['ZoneCreate', 'org_id', [null, ID]],
    ['ZoneCreate', 'channel_ids', [null, [], times(100, ID)]],
    ['ZoneCreate', 'sources', [null, ['usgs'], ['custom:a'], times(100, 'usgs'), [text(64)]]],
    ['ZoneCreate', 'types', [null, ['storm'], times(100, 'storm')]],
    ['ZoneCreate', 'snoozed_until', [null, '2026-03-02T06:00:00+01:00']],
    ['ZoneCreate', 'enabled', [true, false]],
    ['ZoneCreate', 'external_id', [null, 'x', text(200)]],
  ])('%s with %s', (name, field, values) => {
    for (const value of values) expect(issuesOf(name, { [field]: value })).toEqual([])
  })
})

const CONTROL = 'Must not contain control characters'
const BLANK = 'Must not be blank'
const NUL = 'Must not contain the character U+0000.'
const SMALL = expect.stringMatching(/^Must (not be empty|(be|have) at least -?\d+)/)
const BIG = expect.stringMatching(/^Must (be|have) at most \d/)
const INVALID = expect.stringMatching(/^(Required|Must be (?!at)|Must not include|Invalid)/)
const EITHER = 'Send either "token", from the link, or "id", from GET /account/invites.'
const UNKNOWN_ZONE = 'Is not a known time zone. Send an IANA name such as "Europe/Berlin" or "UTC".'
const FUTURE = 'This time has not come yet. Send the time at which the messages began to fail.'
const MANY_ROWS =
  'Must have at most 1000 rows. Send the others in requests of their own, one after another.'

describe('a body refuses', () => {
  it.each<[Name, string, unknown, unknown[]]>([
    ['AccountDelete', 'confirm', BIG, [text(255)]],
    ['AccountDelete', 'confirm', INVALID, [undefined]],
    ['AlertPatch', 'resolved', INVALID, [null, 'true']],
    ['AlertPatch', 'note', BIG, [text(4001)]],
    ['AlertPatch', 'note', NUL, ['a\0']],
    ['ChannelCreate', 'kind', SMALL, ['']],
    ['ChannelCreate', 'kind', BIG, [text(33)]],
    ['ChannelCreate', 'target', SMALL, ['']],
    ['ChannelCreate', 'target', BIG, [text(2049)]],
    ['ChannelCreate', 'target', INVALID, [undefined]],
    ['ChannelCreate', 'label', BIG, [text(121)]],
    ['ChannelCreate', 'label', BLANK, [' ']],
    ['ChannelCreate', 'label', CONTROL, ['a\n', '\ta']],
    ['ChannelCreate', 'config', INVALID, ['x', []]],
    ['ChannelCreate', 'org_id', INVALID, ['x']],
    ['ChannelCreate', 'messages', SMALL, [[]]],
    ['ChannelCreate', 'messages', INVALID, [['alert.lost']]],
    ['ChannelCreate', 'messages', 'Name each type once.', [['alert.raised', 'alert.raised']]],
    ['ChannelCreate', 'language', INVALID, ['de', null]],
    ['ChannelCreate', 'time_zone', UNKNOWN_ZONE, ['Mars/Olympus', '+02:00']],
    ['ChannelCreate', 'signing_secret', BIG, [text(201)]],
    ['ChannelCreate', 'signing_secret', INVALID, [null]],
    ['ChannelPatch', 'target', SMALL, ['']],
    ['ChannelPatch', 'target', BIG, [text(2049)]],
    ['ChannelPatch', 'enabled', INVALID, [null]],
    ['DrillRequest', 'type', INVALID, ['ufo']],
    ['DrillRequest', 'source', INVALID, ['USGS', 'custom:']],
    ['DrillRequest', 'source', BIG, [text(65)]],
    ['DrillRequest', 'severity', SMALL, [-1]],
    ['DrillRequest', 'severity', BIG, [101]],
    ['DrillRequest', 'severity', INVALID, [1.5]],
    ['FeedLinkCreate', 'label', SMALL, ['']],
    ['FeedLinkCreate', 'label', BIG, [text(121)]],
    ['FeedLinkCreate', 'label', NUL, ['\0']],
    ['KeyCreate', 'name', BIG, [text(121)]],
    ['KeyCreate', 'name', BLANK, [' ']],
    ['KeyCreate', 'name', CONTROL, ['a\n', '\ta']],
    ['KeyCreate', 'scopes', SMALL, [[]]],
    ['KeyCreate', 'scopes', BIG, [times(4, 'read')]],
    ['KeyCreate', 'scopes', INVALID, [['admin']]],
    ['MemberInvite', 'email', INVALID, ['a']],
    ['MemberInvite', 'email', BIG, [`${LONG_EMAIL}.example`]],
    ['MemberInvite', 'role', INVALID, ['owner']],
    ['MemberPatch', 'role', INVALID, ['guest', null]],
    ['OrgCreate', 'name', BIG, [text(121)]],
    ['OrgCreate', 'name', BLANK, [' ']],
    ['OrgCreate', 'name', INVALID, [undefined]],
    ['OrgPatch', 'name', BIG, [text(121)]],
    ['OrgPatch', 'name', INVALID, [null]],
    ['OrgTransfer', 'user_id', INVALID, ['x', undefined]],
    ['Recovery', 'since', FUTURE, ['9999-01-01T00:00:00Z']],
    ['Redelivery', 'delivery_ids', SMALL, [[]]],
    ['Redelivery', 'delivery_ids', BIG, [times(101, ID)]],
    ['ZoneBulk', 'zones', SMALL, [[]]],
    ['ZoneBulk', 'zones', MANY_ROWS, [times(1001, {})]],
    ['ZoneBulk', 'dry_run', INVALID, ['true', null]],
    ['ZoneBulkRow', 'external_id', INVALID, [null, undefined]],
    ['ZoneBulkRow', 'external_id', BIG, [text(201)]],
    ['ZoneCreate', 'label', BIG, [text(121)]],
    ['ZoneCreate', 'label', BLANK, [' ']],
    ['ZoneCreate', 'label', CONTROL, ['a\n']],
    ['ZoneCreate', 'label', CONTROL, ['\u0085a']],
    ['ZoneCreate', 'label', 'Must be valid Unicode', ['\ud800']],
    ['ZoneCreate', 'lat', SMALL, [-90.1]],
    ['ZoneCreate', 'lat', BIG, [90.1]],
    ['ZoneCreate', 'lon', SMALL, [-180.1]],
    ['ZoneCreate', 'lon', BIG, [180.1]],
    ['ZoneCreate', 'radius_km', SMALL, [0.09]],
    ['ZoneCreate', 'radius_km', BIG, [5000.1]],
    ['ZoneCreate', 'match', INVALID, ['area']],
    ['ZoneCreate', 'min_severity', SMALL, [-0.1]],
    ['ZoneCreate', 'min_severity', BIG, [100.1]],
    ['ZoneCreate', 'severity_multiplier', SMALL, [0.09]],
    ['ZoneCreate', 'severity_multiplier', BIG, [5.1]],
    ['ZoneCreate', 'dwell_minutes', SMALL, [-1]],
    ['ZoneCreate', 'dwell_minutes', BIG, [10_081]],
    ['ZoneCreate', 'quiet_hours_tz', SMALL, ['']],
    ['ZoneCreate', 'quiet_hours_tz', BIG, [text(65)]],
    ['ZoneCreate', 'quiet_mode', INVALID, ['wait']],
    ['ZoneCreate', 'emergency_severity', SMALL, [-0.1]],
    ['ZoneCreate', 'emergency_severity', BIG, [100.1]],
    ['ZoneCreate', 'max_alerts_per_hour', SMALL, [0]],
    ['ZoneCreate', 'max_alerts_per_hour', BIG, [1001]],
    ['ZoneCreate', 'max_alerts_per_hour', INVALID, [1.5]],
    ['ZoneCreate', 'escalation', SMALL, [[]]],
    ['ZoneCreate', 'escalation', BIG, [times(6, { after_minutes: 1, channel_ids: [] })]],
    ['ZoneCreate', 'color', 'Must be a colour of the form #rrggbb', ['#d9480']],
    ['ZoneCreate', 'color', 'Must be a colour of the form #rrggbb', ['x#d9480f']],
    ['ZoneCreate', 'color', 'Must be a colour of the form #rrggbb', ['#d9480f0']],
    ['ZoneCreate', 'icon', 'Must be 1–32 characters from a–z, 0–9 and -', ['an chor']],
    ['ZoneCreate', 'icon', 'Must be 1–32 characters from a–z, 0–9 and -', [text(33)]],
    ['ZoneCreate', 'channel_ids', BIG, [times(101, ID)]],
    ['ZoneCreate', 'sources', SMALL, [[]]],
    ['ZoneCreate', 'sources', BIG, [times(101, 'usgs')]],
    ['ZoneCreate', 'types', SMALL, [[]]],
    ['ZoneCreate', 'types', BIG, [times(101, 'storm')]],
    ['ZoneCreate', 'enabled', INVALID, ['yes']],
    ['ZoneCreate', 'external_id', BIG, [text(201)]],
    ['ZoneCreate', 'external_id', BLANK, [' ']],
    ['ZoneCreate', 'external_id', CONTROL, ['a\tb']],
  ])('%s with another %s (%#)', (name, field, message, values) => {
    const [schema, rest] = SCHEMAS[name]
    for (const value of values) {
      const { error } = schema.safeParse({ ...rest, [field]: value })
      expect(error?.issues.map((issue) => [issue.path[0], issue.message])).toEqual([
        [field, message],
      ])
    }
  })

  it.each([
    [{ sources: ['USGS'] }, ['sources.0: Must be the name of a source']],
    [{ sources: ['my custom:buoys'] }, ['sources.0: Must be the name of a source']],
    [{ sources: ['usgs\n'] }, ['sources.0: Must be the name of a source']],
    [
      { escalation: [{ after_minutes: 0, channel_ids: [] }] },
      [/^escalation.0.after_minutes: Must be at least 1/],
    ],
    [
      { escalation: [{ after_minutes: 1441, channel_ids: [] }] },
      [/^escalation.0.after_minutes: Must be at most/],
    ],
    [
      { escalation: [{ after_minutes: 1, channel_ids: times(101, ID) }] },
      [/channel_ids: Must have at most 100/],
    ],
    [{ escalation: [{ after_minutes: 1, channel_ids: [], to: 1 }] }, [/Unrecognized key: "to"/]],
  ])('a zone with %j', (given, messages) => {
    expect(issuesOf('ZoneCreate', given)).toEqual(
      messages.map((message) => expect.stringMatching(message)),
    )
  })

  it.each(Object.keys(SCHEMAS) as Name[])('a field that %s does not have', (name) => {
    expect(issuesOf(name, { nickname: 1 })).toContain(': Unrecognized key: "nickname"')
  })

  it.each([
    [{ lat: 1 }, ['lon: Send lat and lon, or neither.']],
    [{ lon: 1 }, ['lon: Send lat and lon, or neither.']],
    [{ lat: 90, lon: -180 }, []],
    [{ lat: -90, lon: 180 }, []],
    [{ lat: 90.1, lon: 0 }, ['lat: Must be at most 90.']],
    [{ lat: -90.1, lon: 0 }, ['lat: Must be at least -90.']],
    [{ lat: 0, lon: 180.1 }, ['lon: Must be at most 180.']],
    [{ lat: 0, lon: -180.1 }, ['lon: Must be at least -180.']],
  ])('half a place of a drill, and one off the Earth: %j', (place, issues) => {
    expect(issuesOf('DrillRequest', place)).toEqual(issues)
  })

  it('an acceptance of an invite by token and id, or by neither', () => {
    expect(issuesOf('InviteAccept', {})).toEqual([`token: ${EITHER}`])
    expect(issuesOf('InviteAccept', { token: 'x', id: ID })).toEqual([`token: ${EITHER}`])
  })
})

it('a drill respects quiet hours and runs no steps unless that is asked for', () => {
  expect(DrillRequest.parse({})).toEqual({ ignore_quiet_hours: false, escalate: false })
  expect(ZoneBulk.parse({ zones: [{}] }).dry_run).toBe(false)
})

it('a channel is not told of revisions and of what people do, unless it chooses to', () => {
  expect(DEFAULT_MESSAGES).toEqual([
    ...['alert.raised', 'alert.escalated', 'alert.ended', 'alert.retracted', 'alert.digest'],
    ...['zone.blind', 'zone.sighted', 'channel.failing', 'channel.recovered'],
  ])
})
