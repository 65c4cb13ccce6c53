import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { AuditRow } from '../../shared/schemas/audit.ts'
import { OTHER_ACCOUNT_MARKER } from '../support/attacks/refusals.ts'
import { createService, type Person, parsed, type Service } from '../support/service.ts'

let service: Service
beforeAll(async () => {
  service = await createService()
})
afterAll(() => service?.close())

const Page = z.object({ audit: z.array(AuditRow) })
async function logOf(person: Person) {
  return parsed(await service.request('GET', '/api/v1/audit', person), 200, Page).audit
}

describe('what is shared', () => {
  test('is in the logs of the organisation’s owner and admins, whoever owns it and whoever acts', async () => {
    const [owner, admin, member, fellow] = [
      await service.person(),
      await service.person(),
      await service.person(),
      await service.person(),
    ]
    const org = await service.organisation(
      owner,
      [admin, 'admin'],
      [member, 'member'],
      [fellow, 'member'],
    )
    const ask = (method: string, path: string, body?: unknown) =>
      service.request(method, `/api/v1${path}`, { key: member.key, body })
    const zone = { label: 'Shared', lat: 41, lon: 29 }
    const made = await ask('POST', '/zones', { ...zone, org_id: org })
    const { id } = parsed(made, 201, z.object({ zone: z.looseObject({ id: z.string() }) })).zone
    await ask('PATCH', `/zones/${id}`, { min_severity: 3 })
    await ask('DELETE', `/zones/${id}`)
    await ask('POST', `/zones/${id}/restore`)
    for (const head of [owner, admin]) {
      const acts = (await logOf(head)).filter(({ target_id }) => target_id === id)
      expect(acts.map(({ action }) => action)).toEqual([
        'zone.restored',
        'zone.deleted',
        'zone.updated',
        'zone.created',
      ])
      expect(acts.every(({ actor_id }) => actor_id === member.user_id)).toBe(true)
    }
    expect((await logOf(fellow)).filter(({ target_id }) => target_id === id)).toEqual([])
  })

  test('begins and ends with the sharing: nothing private is told, not in the same change either', async () => {
    const [owner, member] = [await service.person(), await service.person()]
    const org = await service.organisation(owner, [member, 'member'])
    const ask = (method: string, path: string, body?: unknown) =>
      service.request(method, `/api/v1${path}`, { key: member.key, body })
    const made = await ask('POST', '/zones', {
      label: `${OTHER_ACCOUNT_MARKER} at first`,
      lat: 41,
      lon: 29,
    })
    const { id } = parsed(made, 201, z.object({ zone: z.looseObject({ id: z.string() }) })).zone
    await ask('PATCH', `/zones/${id}`, { min_severity: 61 })
    await ask('PATCH', `/zones/${id}`, { org_id: org, label: 'Shared' })
    await ask('PATCH', `/zones/${id}`, { min_severity: 62 })
    await ask('PATCH', `/zones/${id}`, { org_id: null, label: `${OTHER_ACCOUNT_MARKER} again` })
    await ask('PATCH', `/zones/${id}`, { min_severity: 63 })
    const told = (await logOf(owner)).filter(({ target_id }) => target_id === id)
    expect(told.map(({ details }) => details)).toEqual([
      { label: 'Shared', changed: { org_id: [org, null] } },
      { label: 'Shared', changed: { min_severity: [61, 62] } },
      { label: 'Shared', changed: { org_id: [null, org] } },
    ])
    const mine = (await logOf(member)).filter(({ target_id }) => target_id === id)
    expect(mine).toHaveLength(6)
    expect(JSON.stringify(mine)).toContain(`${OTHER_ACCOUNT_MARKER} again`)
  })

  test('an organisation that an operator deletes tells its owner, admins and members', async () => {
    const [owner, admin, member] = [
      await service.person(),
      await service.person(),
      await service.person(),
    ]
    const org = await service.organisation(owner, [admin, 'admin'], [member, 'member'])
    await service.database.query('delete from watchpost.organisations where id = $1', [org])
    for (const head of [owner, admin]) {
      expect(await logOf(head)).toContainEqual(
        expect.objectContaining({ action: 'organisation.deleted', target_id: org, actor_id: null }),
      )
    }
    expect(await logOf(member)).toContainEqual(
      expect.objectContaining({ action: 'member.deleted', actor_id: null }),
    )
  })
})
