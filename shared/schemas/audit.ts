import { z } from 'zod'
import { Instant } from '../time.ts'
import { VERSION } from '../version.ts'

/** An action in an account's audit log. */
export const AuditRow = z
  .object({
    id: z.uuid(),
    at: Instant,
    actor_id: z.uuid().nullable().meta({ description: 'Who acted; null for the service itself.' }),
    key_id: z
      .uuid()
      .nullable()
      .meta({ description: 'The key that was used; null for the CLI and the dashboard.' }),
    action: z.string().meta({ example: 'zone.updated' }),
    target_type: z.string().meta({ example: 'zone' }),
    target_id: z.string().nullable(),
    outcome: z.enum(['success', 'failure']),
    ip: z.string().nullable(),
    user_agent: z.string().nullable(),
    request_id: z.uuid().nullable().meta({
      description: 'The X-Request-Id; null for refusals, which are counted per minute.',
    }),
    details: z.record(z.string(), z.unknown()),
  })
  .meta({ id: 'AuditRow' })
export type AuditRow = z.infer<typeof AuditRow>

const OCSF_VERSION = '1.3.0'
const CATEGORY_APPLICATION = 6
const CLASS_API_ACTIVITY = 6003
const ACTIVITIES = { Create: 1, Update: 3, Delete: 4, Other: 99 } as const
const SEVERITIES = { Informational: 1, Low: 2 } as const
const STATUSES = { Success: 1, Failure: 2 } as const
const USER = 1

/** An audit row as an event of class API Activity (6003) of the Open Cybersecurity Schema Framework (OCSF) 1.3. */
export const ApiActivity = z
  .object({
    category_uid: z.literal(CATEGORY_APPLICATION),
    category_name: z.literal('Application Activity'),
    class_uid: z.literal(CLASS_API_ACTIVITY),
    class_name: z.literal('API Activity'),
    activity_id: z.int(),
    activity_name: z.string(),
    type_uid: z.int().meta({ description: 'class_uid × 100 + activity_id.' }),
    type_name: z.string(),
    severity_id: z.int(),
    severity: z.string(),
    status_id: z.int(),
    status: z.string(),
    status_detail: z.string().optional(),
    time: z.int().meta({ description: 'Milliseconds since 1970.' }),
    message: z.string(),
    metadata: z.object({
      version: z.literal(OCSF_VERSION),
      product: z.object({ name: z.string(), vendor_name: z.string(), version: z.string() }),
      uid: z.uuid().meta({ description: 'The id of the audit row.' }),
      event_code: z.string(),
      log_name: z.literal('audit'),
      correlation_uid: z.string().optional(),
    }),
    actor: z.object({
      user: z
        .object({ uid: z.string(), type_id: z.int(), credential_uid: z.string().optional() })
        .optional(),
      app_name: z.string().optional(),
    }),
    api: z.object({
      operation: z.string(),
      version: z.literal('v1'),
      service: z.object({ name: z.string() }),
      request: z.object({ uid: z.string() }).optional(),
    }),
    src_endpoint: z.object({ ip: z.string().optional(), svc_name: z.string().optional() }),
    http_request: z.object({ user_agent: z.string() }).optional(),
    resources: z.array(
      z.object({ type: z.string(), uid: z.string().optional(), name: z.string() }),
    ),
    unmapped: z.record(z.string(), z.unknown()),
  })
  .meta({ id: 'ApiActivity', description: 'OCSF 1.3 API Activity.' })
export type ApiActivity = z.infer<typeof ApiActivity>

/** toApiActivity is an audit row in the words of OCSF; what it has no word for is in `unmapped`. */
export function toApiActivity(row: AuditRow): ApiActivity {
  const activity = activityOf(row.action)
  const status = row.outcome === 'success' ? 'Success' : 'Failure'
  const severity = row.outcome === 'success' ? 'Informational' : 'Low'
  const via = typeof row.details.via === 'string' ? row.details.via : 'watchpost'
  const code = row.details.code
  return {
    category_uid: CATEGORY_APPLICATION,
    category_name: 'Application Activity',
    class_uid: CLASS_API_ACTIVITY,
    class_name: 'API Activity',
    activity_id: ACTIVITIES[activity],
    activity_name: activity === 'Other' ? row.action : activity,
    type_uid: CLASS_API_ACTIVITY * 100 + ACTIVITIES[activity],
    type_name: `API Activity: ${activity}`,
    severity_id: SEVERITIES[severity],
    severity,
    status_id: STATUSES[status],
    status,
    ...(typeof code === 'string' ? { status_detail: code } : {}),
    time: Date.parse(row.at),
    message: `${row.action} ${row.target_type} ${row.target_id ?? ''}`.trim(),
    metadata: {
      version: OCSF_VERSION,
      product: { name: 'Watchpost', vendor_name: 'Watchpost', version: VERSION },
      uid: row.id,
      event_code: row.action,
      log_name: 'audit',
      ...(row.request_id ? { correlation_uid: row.request_id } : {}),
    },
    actor: row.actor_id
      ? {
          user: {
            uid: row.actor_id,
            type_id: USER,
            ...(row.key_id ? { credential_uid: row.key_id } : {}),
          },
        }
      : { app_name: via },
    api: {
      operation: row.action,
      version: 'v1',
      service: { name: 'Watchpost' },
      ...(row.request_id ? { request: { uid: row.request_id } } : {}),
    },
    // OCSF requires some identification of the endpoint; an internal action has no IP address.
    src_endpoint: row.ip ? { ip: row.ip } : { svc_name: via },
    ...(row.user_agent ? { http_request: { user_agent: row.user_agent } } : {}),
    resources: [
      {
        type: row.target_type,
        name: row.target_id ?? row.target_type,
        ...(row.target_id ? { uid: row.target_id } : {}),
      },
    ],
    unmapped: row.details,
  }
}

function activityOf(action: string): keyof typeof ACTIVITIES {
  const verb = action.split('.').at(-1) ?? ''
  if (['created', 'invited'].includes(verb)) return 'Create'
  if (['deleted', 'revoked'].includes(verb)) return 'Delete'
  if (
    [
      'updated',
      'restored',
      'acknowledged',
      'resolved',
      'reopened',
      'secret_rotated',
      'plan_changed',
    ].includes(verb)
  ) {
    return 'Update'
  }
  return 'Other'
}
