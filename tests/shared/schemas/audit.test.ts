import { expect, test } from 'vitest'
import { ApiActivity, type AuditRow, toApiActivity } from '../../../shared/schemas/audit.ts'

const id = (number: number) => `00000000-0000-4000-8000-00000000000${number}`
const BY_PERSON: AuditRow = {
  id: id(1),
  at: '2026-03-01T12:00:00.000Z',
  actor_id: id(2),
  key_id: id(3),
  action: 'zone.updated',
  target_type: 'zone',
  target_id: id(4),
  outcome: 'success',
  ip: '192.0.2.1',
  user_agent: 'curl/8',
  request_id: id(5),
  details: { via: 'mcp', label: 'Home' },
}
const BY_ITSELF: AuditRow = {
  ...BY_PERSON,
  ...{ actor_id: null, key_id: null, target_id: null, ip: null, user_agent: null },
  ...{ request_id: null, details: {} },
}

test('an act of a person tells who did what from where', () => {
  const act = toApiActivity(BY_PERSON)
  expect(act).toMatchObject({
    ...{ category_uid: 6, class_uid: 6003, type_uid: 600303, type_name: 'API Activity: Update' },
    ...{ activity_id: 3, activity_name: 'Update', time: Date.UTC(2026, 2, 1, 12) },
    ...{ severity_id: 1, severity: 'Informational', status_id: 1, status: 'Success' },
    message: `zone.updated zone ${id(4)}`,
    metadata: {
      uid: id(1),
      version: '1.3.0',
      product: { name: 'Watchpost', vendor_name: 'Watchpost' },
      event_code: 'zone.updated',
      correlation_uid: id(5),
    },
    api: { operation: 'zone.updated', version: 'v1', request: { uid: id(5) } },
    unmapped: { via: 'mcp', label: 'Home' },
  })
  expect(act.actor).toEqual({ user: { uid: id(2), type_id: 1, credential_uid: id(3) } })
  expect(act.src_endpoint).toEqual({ ip: '192.0.2.1' })
  expect(act.http_request).toEqual({ user_agent: 'curl/8' })
  expect(act.resources).toEqual([{ type: 'zone', uid: id(4), name: id(4) }])
  expect(act).not.toHaveProperty('status_detail')
  expect(ApiActivity.parse(act)).toEqual(act)
})

test('an act without a key, and one of the service itself, name nothing that there is not', () => {
  expect(toApiActivity({ ...BY_PERSON, key_id: null }).actor).toEqual({
    user: { uid: id(2), type_id: 1 },
  })
  const act = toApiActivity(BY_ITSELF)
  expect(act.message).toBe('zone.updated zone')
  expect(act.actor).toEqual({ app_name: 'watchpost' })
  expect(act.src_endpoint).toEqual({ svc_name: 'watchpost' })
  expect(act.resources).toEqual([{ type: 'zone', name: 'zone' }])
  expect(act.metadata).not.toHaveProperty('correlation_uid')
  expect(act.api).toEqual({
    ...{ operation: 'zone.updated', version: 'v1', service: { name: 'Watchpost' } },
  })
  expect(act).not.toHaveProperty('http_request')
  expect(ApiActivity.parse(act)).toEqual(act)
})

test('an act by a command names the command', () => {
  const act = toApiActivity({ ...BY_ITSELF, details: { via: 'command' } })
  expect(act.actor).toEqual({ app_name: 'command' })
  expect(act.src_endpoint).toEqual({ svc_name: 'command' })
})

test('a failure tells why, where there is a code', () => {
  const failed: AuditRow = { ...BY_PERSON, outcome: 'failure' }
  expect(toApiActivity({ ...failed, details: { code: 'forbidden' } })).toMatchObject({
    ...{ severity_id: 2, severity: 'Low', status_id: 2, status: 'Failure' },
    status_detail: 'forbidden',
  })
  expect(toApiActivity({ ...failed, details: { code: 403 } })).not.toHaveProperty('status_detail')
})

test.each([
  ['zone.created', 'Create', 1],
  ['member.invited', 'Create', 1],
  ['zone.updated', 'Update', 3],
  ['zone.restored', 'Update', 3],
  ['alert.acknowledged', 'Update', 3],
  ['alert.resolved', 'Update', 3],
  ['alert.reopened', 'Update', 3],
  ['channel.secret_rotated', 'Update', 3],
  ['account.plan_changed', 'Update', 3],
  ['zone.deleted', 'Delete', 4],
  ['key.revoked', 'Delete', 4],
  ['account.exported', 'account.exported', 99],
  ['updated.exported', 'updated.exported', 99],
  ['zone.deleted.restored', 'Update', 3],
])('%s is the activity %s', (action, activity_name, activity_id) => {
  const act = toApiActivity({ ...BY_PERSON, action })
  expect(act).toMatchObject({ activity_name, activity_id, type_uid: 600300 + activity_id })
  expect(act.type_name).toBe(`API Activity: ${activity_id === 99 ? 'Other' : activity_name}`)
})
