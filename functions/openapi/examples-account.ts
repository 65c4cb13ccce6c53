/** The examples of the account routes, for the person who watches the Bosphorus. */
import type { z } from 'zod'
import type { Account, AccountExport, Invite, Key, Org } from '../../shared/schemas/account.ts'
import { feedLink } from './examples-feeds.ts'
import { STORY } from './story.ts'

const { me, key_id, team, colleague, member_id, zone, channel, alert, delivery, act } = STORY
const SIGNED_UP = '2026-02-20T08:00:00.000Z'

const org: Org = {
  id: team,
  name: 'Port operations',
  role: 'owner',
  members: 4,
  created_at: SIGNED_UP,
}
const account: z.infer<typeof Account> = {
  user_id: me,
  email: 'deniz@example.com',
  plan: 'pro',
  created_at: SIGNED_UP,
  limits: {
    requests_per_minute: 600,
    zones: 1000,
    channels: 50,
    members: 50,
    keys: 20,
    organisations: 20,
  },
  counts: { zones: 1, channels: 1, keys: 1, organisations: 1 },
  orgs: [org],
}
const key: Key = {
  id: key_id,
  name: 'Night shift dashboard',
  prefix: 'wp_live_3fKq',
  scopes: ['read'],
  expires_at: null,
  revoked_at: null,
  last_used_at: '2026-03-01T12:15:00.000Z',
  created_at: '2026-02-20T08:10:00.000Z',
}
const made = {
  ...key,
  last_used_at: null,
  api_key: 'wp_live_3fKqXExampleExampleExampleExampleExampleExample1a2b3',
}
const invite: z.infer<typeof Invite> = {
  id: member_id,
  org: { id: team, name: 'Port operations' },
  email: 'ayse@example.com',
  role: 'member',
  invited_by: 'deniz@example.com',
  expires_at: '2026-03-08T09:00:00.000Z',
  created_at: '2026-03-01T09:00:00.000Z',
}

function exported(): z.infer<typeof AccountExport> {
  const { coverage: _, ...zoneFields } = zone
  const { signing_secret: __, ...channelFields } = channel
  return {
    exported_at: '2026-03-02T09:00:00.000Z',
    account,
    keys: [key],
    zones: [{ ...zoneFields, deleted_at: null }],
    feed_links: [feedLink],
    channels: [{ ...channelFields, target: 'https://hooks.example.com/…', deleted_at: null }],
    alerts: [alert],
    deliveries: [{ ...delivery, alert_id: alert.id, created_at: alert.raised_at }],
    audit: [act],
  }
}

export const ACCOUNT_EXAMPLES = {
  getAccount: { response: { account } },
  deleteAccount: { request: { confirm: 'deniz@example.com' } },
  exportAccount: { response: exported() },
  listKeys: { response: { keys: [key], next_cursor: null } },
  getKey: { response: { key } },
  createKey: {
    request: { name: 'Night shift dashboard', scopes: ['read'] },
    response: { key: made },
  },
  listOrgs: { response: { orgs: [org] } },
  getOrg: { response: { org } },
  createOrg: { request: { name: 'Port operations' }, response: { org: { ...org, members: 1 } } },
  updateOrg: {
    request: { name: 'Harbour operations' },
    response: { org: { ...org, name: 'Harbour operations' } },
  },
  leaveOrg: { request: {}, response: { passed_on: { zones: 2, channels: 0 } } },
  transferOrg: { request: { user_id: colleague }, response: { org: { ...org, role: 'admin' } } },
  listInvites: { response: { invites: [invite] } },
  acceptInvite: {
    request: { token: '3q2-7wX9kQ' },
    response: { org: { ...org, role: 'member', members: 5 } },
  },
} satisfies Record<string, { request?: object; response?: object }>
