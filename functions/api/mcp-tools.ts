import { z } from 'zod'
import { ChannelCreate, ChannelPatch } from '../../shared/schemas/channel.ts'
import { MemberInvite, MemberPatch } from '../../shared/schemas/organisation.ts'
import { ExternalId, ZoneCreate, ZonePatch } from '../../shared/schemas/zone.ts'
import type { Scope } from '../context.ts'

/** A request to the API. */
export type Call = { method: 'GET' | 'POST' | 'PATCH' | 'DELETE'; path: string; body?: unknown }
export type Tool = {
  name: string
  title: string
  description: string
  scope: Scope
  input: z.ZodObject
  call: (input: Record<string, unknown>) => Call
}

const Id = z.uuid()
const limit = z.int().min(1).max(500).optional()
const days = z.int().min(1).max(90).optional()

/** The tools for models. Each one is a route of the API, with its input and answer. */
export const TOOLS: Tool[] = [
  {
    name: 'list_events',
    title: 'List events',
    description:
      'Events of the last minutes (default 60, at most 1440) inside the zones of this account, newest first.',
    scope: 'read',
    input: z.strictObject({
      minutes: z.int().min(1).max(1440).optional(),
      zone_id: Id.optional(),
      source: z.string().optional(),
      type: z.string().optional(),
      min_severity: z.number().min(0).max(100).optional(),
      limit,
      cursor: z.string().optional(),
    }),
    call: (input) => ({ method: 'GET', path: `/events${query(input)}` }),
  },
  {
    name: 'list_zones',
    title: 'List zones',
    description:
      'The watch zones of this account and its organisations; with `external_id` only those that have this name of yours.',
    scope: 'read',
    input: z.strictObject({
      external_id: ExternalId.optional(),
      limit,
      cursor: z.string().optional(),
    }),
    call: (input) => ({
      method: 'GET',
      path: `/zones${query({ ...input, geometry: 'simplified' })}`,
    }),
  },
  {
    name: 'get_zone',
    title: 'Get a zone',
    description: 'One watch zone with all its rules.',
    scope: 'read',
    input: z.strictObject({ zone_id: Id }),
    call: ({ zone_id }) => ({ method: 'GET', path: `/zones/${zone_id}` }),
  },
  {
    name: 'list_alerts',
    title: 'List alerts',
    description: 'The alerts of the last days (default 7), newest first, with their deliveries.',
    scope: 'read',
    input: z.strictObject({
      days,
      zone_id: Id.optional(),
      resolved: z.boolean().optional(),
      seen: z.boolean().optional(),
      status: z.string().optional(),
      limit,
      cursor: z.string().optional(),
    }),
    call: (input) => ({ method: 'GET', path: `/alerts${query(input)}` }),
  },
  {
    name: 'get_alert',
    title: 'Get an alert',
    description: 'One alert with its event, reason, deliveries and updates.',
    scope: 'read',
    input: z.strictObject({ alert_id: Id }),
    call: ({ alert_id }) => ({ method: 'GET', path: `/alerts/${alert_id}` }),
  },
  {
    name: 'explain_event',
    title: 'Explain a decision',
    description:
      'Why an event did or did not raise an alert in a zone: every check with its numbers.',
    scope: 'read',
    input: z.strictObject({ zone_id: Id, event_id: z.string() }),
    call: ({ zone_id, event_id }) => ({
      method: 'GET',
      path: `/zones/${zone_id}/explain${query({ event_id })}`,
    }),
  },
  {
    name: 'preview_zone',
    title: 'Preview a zone',
    description: 'What a saved zone would have alerted on in the last days.',
    scope: 'read',
    input: z.strictObject({ zone_id: Id, days }),
    call: ({ zone_id, days }) => ({
      method: 'GET',
      path: `/zones/${zone_id}/preview${query({ days })}`,
    }),
  },
  {
    name: 'preview_draft',
    title: 'Preview a draft zone',
    description: 'What a zone that is not saved yet would have alerted on in the last days.',
    scope: 'read',
    input: z.strictObject({ zone: ZoneCreate, days }),
    call: ({ zone, days }) => ({
      method: 'POST',
      path: `/zones/preview${query({ days })}`,
      body: zone,
    }),
  },
  {
    name: 'create_zone',
    title: 'Create a zone',
    description: 'Creates a watch zone.',
    scope: 'write',
    input: z.strictObject({ zone: ZoneCreate }),
    call: ({ zone }) => ({ method: 'POST', path: '/zones', body: zone }),
  },
  {
    name: 'update_zone',
    title: 'Change a zone',
    description: 'Changes a watch zone. An absent field is unchanged; null clears a field.',
    scope: 'write',
    input: z.strictObject({ zone_id: Id, changes: ZonePatch }),
    call: ({ zone_id, changes }) => ({ method: 'PATCH', path: `/zones/${zone_id}`, body: changes }),
  },
  {
    name: 'delete_zone',
    title: 'Delete a zone',
    description: 'Deletes a watch zone; it can be restored for 30 days.',
    scope: 'write',
    input: z.strictObject({ zone_id: Id }),
    call: ({ zone_id }) => ({ method: 'DELETE', path: `/zones/${zone_id}` }),
  },
  {
    name: 'resolve_alert',
    title: 'Resolve or reopen an alert',
    description: 'Marks an alert resolved, or reopens it, with a note.',
    scope: 'write',
    input: z.strictObject({
      alert_id: Id,
      resolved: z.boolean(),
      note: z.string().max(4000).optional(),
    }),
    call: ({ alert_id, ...body }) => ({ method: 'PATCH', path: `/alerts/${alert_id}`, body }),
  },
  {
    name: 'acknowledge_alert',
    title: 'Acknowledge an alert',
    description: 'Says that somebody has seen an alert, which stops its escalation steps.',
    scope: 'write',
    input: z.strictObject({ alert_id: Id }),
    call: ({ alert_id }) => ({ method: 'POST', path: `/alerts/${alert_id}/acknowledge` }),
  },
  {
    name: 'redeliver_alert',
    title: 'Send an alert again',
    description:
      'Sends an alert again: the deliveries named in `delivery_ids`, or those that failed. Requires the ownership of the zone or a role in its organisation.',
    scope: 'write',
    input: z.strictObject({ alert_id: Id, delivery_ids: z.array(Id).max(100).optional() }),
    call: ({ alert_id, ...body }) => ({
      method: 'POST',
      path: `/alerts/${alert_id}/redeliver`,
      body,
    }),
  },
  {
    name: 'list_channels',
    title: 'List channels',
    description: 'Where alerts are sent to, with the state of each channel; secrets are masked.',
    scope: 'read',
    input: z.strictObject({ limit, cursor: z.string().optional() }),
    call: (input) => ({ method: 'GET', path: `/channels${query(input)}` }),
  },
  {
    name: 'list_channel_deliveries',
    title: 'List the deliveries of a channel',
    description: 'What was sent to a channel, newest first, with attempts and errors.',
    scope: 'read',
    input: z.strictObject({ channel_id: Id, limit, cursor: z.string().optional() }),
    call: ({ channel_id, ...input }) => ({
      method: 'GET',
      path: `/channels/${channel_id}/deliveries${query(input)}`,
    }),
  },
  {
    name: 'create_channel',
    title: 'Create a channel',
    description: 'Creates a channel. A signing secret is shown only in this answer.',
    scope: 'write',
    input: z.strictObject({ channel: ChannelCreate }),
    call: ({ channel }) => ({ method: 'POST', path: '/channels', body: channel }),
  },
  {
    name: 'update_channel',
    title: 'Change a channel',
    description: 'Changes a channel. An absent field is unchanged; null clears a field.',
    scope: 'write',
    input: z.strictObject({ channel_id: Id, changes: ChannelPatch }),
    call: ({ channel_id, changes }) => ({
      method: 'PATCH',
      path: `/channels/${channel_id}`,
      body: changes,
    }),
  },
  {
    name: 'delete_channel',
    title: 'Delete a channel',
    description: 'Deletes a channel; it can be restored for 30 days.',
    scope: 'write',
    input: z.strictObject({ channel_id: Id }),
    call: ({ channel_id }) => ({ method: 'DELETE', path: `/channels/${channel_id}` }),
  },
  {
    name: 'test_channel',
    title: 'Test a channel',
    description: 'Sends a marked test message and answers what the receiver said.',
    scope: 'write',
    input: z.strictObject({ channel_id: Id }),
    call: ({ channel_id }) => ({ method: 'POST', path: `/channels/${channel_id}/test` }),
  },
  {
    name: 'get_me',
    title: 'Get the account',
    description: 'The account of the key: its plan, its rate limit, and its organisations.',
    scope: 'read',
    input: z.strictObject({}),
    call: () => ({ method: 'GET', path: '/me' }),
  },
  {
    name: 'list_members',
    title: 'List the members of an organisation',
    description: 'The members and invites of an organisation of this account.',
    scope: 'read',
    input: z.strictObject({ org_id: Id }),
    call: ({ org_id }) => ({ method: 'GET', path: `/orgs/${org_id}/members` }),
  },
  {
    name: 'invite_member',
    title: 'Invite a member',
    description:
      'Invites an email address to an organisation and answers the link; Watchpost sends no mail.',
    scope: 'write',
    input: z.strictObject({ org_id: Id, invite: MemberInvite }),
    call: ({ org_id, invite }) => ({
      method: 'POST',
      path: `/orgs/${org_id}/members`,
      body: invite,
    }),
  },
  {
    name: 'update_member',
    title: 'Change the role of a member',
    description: 'Changes the role of a member or an invite.',
    scope: 'write',
    input: z.strictObject({ org_id: Id, member_id: Id, changes: MemberPatch }),
    call: ({ org_id, member_id, changes }) => ({
      method: 'PATCH',
      path: `/orgs/${org_id}/members/${member_id}`,
      body: changes,
    }),
  },
  {
    name: 'remove_member',
    title: 'Remove a member',
    description: 'Removes a member or voids an invite; what they shared passes to the owner.',
    scope: 'write',
    input: z.strictObject({ org_id: Id, member_id: Id }),
    call: ({ org_id, member_id }) => ({
      method: 'DELETE',
      path: `/orgs/${org_id}/members/${member_id}`,
    }),
  },
]

/** The query string of these parameters, with `?`; empty when there are none. */
export function query(input: Record<string, unknown>): string {
  const given = Object.entries(input).filter(([, value]) => value !== undefined)
  const text = new URLSearchParams(given.map(([key, value]) => [key, String(value)])).toString()
  return text === '' ? '' : `?${text}`
}
