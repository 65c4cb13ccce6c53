/** The schemas whose rows must survive an upgrade. */
export const SERVICE_SCHEMAS = ['auth', 'private', 'pgboss', 'watchpost']
export const HUB_SCHEMAS = ['hub', 'private']

/** What the hub is asked before and after an upgrade. */
export const HUB_PATHS = [
  'projects/list',
  'leads/list?project=demir',
  'missions/list?project=demir',
  'approvals/list?project=demir',
]
