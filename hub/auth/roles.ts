import type { Role } from '../db/actor.ts'

type Rule = {
  /** A whole path, or the beginning of one if it ends in a slash; without /api/cockpit/. */
  path: string
  read: Role
  write: Role
}

const rule = (path: string, read: Role, write: Role): Rule => ({ path, read, write })

/**
 * Which role each route needs: the first rule that fits decides. A route that no rule names needs an
 * admin, and tests/hub/auth/roles.test.ts fails until it has one.
 */
const RULES: Rule[] = [
  rule('session', 'reader', 'reader'),
  rule('me', 'reader', 'reader'),
  rule('logout', 'reader', 'reader'),
  rule('logout/everywhere', 'reader', 'reader'),
  rule('password', 'reader', 'reader'),
  // Each tool is a request of its own, with its own role.
  rule('mcp', 'reader', 'reader'),
  rule('spec', 'reader', 'admin'),
  rule('system_info', 'reader', 'admin'),
  rule('today_summary', 'reader', 'admin'),
  rule('search', 'reader', 'admin'),
  rule('tasks', 'reader', 'seller'),
  rule('doctor', 'admin', 'admin'),

  // Which project a member opened last is their own.
  rule('projects/select', 'reader', 'reader'),
  rule('projects/delete', 'admin', 'admin'),
  rule('projects/archives/delete', 'admin', 'admin'),
  rule('projects/restore', 'admin', 'admin'),
  rule('projects/archives', 'admin', 'admin'),
  rule('projects/archives/', 'admin', 'admin'),
  // It shows a sample mail and changes nothing.
  rule('projects/brand/preview', 'reader', 'reader'),
  // In whose name the hub writes to people.
  rule('projects/brand', 'reader', 'admin'),
  rule('projects/dkim/', 'admin', 'admin'),
  rule('projects/', 'reader', 'seller'),
  // It takes the data of people out of the hub.
  rule('leads/export', 'seller', 'seller'),
  rule('leads/', 'reader', 'seller'),
  rule('lead/', 'reader', 'seller'),
  rule('inbox/', 'reader', 'seller'),
  rule('queue/', 'reader', 'seller'),
  rule('deals/', 'reader', 'seller'),
  rule('evidence/', 'reader', 'seller'),
  rule('drafts/', 'reader', 'seller'),
  rule('draft/', 'reader', 'seller'),
  rule('sequences/', 'reader', 'seller'),
  rule('sequence/', 'reader', 'seller'),
  rule('missions/', 'reader', 'seller'),
  rule('mission/', 'reader', 'seller'),
  rule('approvals/', 'reader', 'seller'),
  rule('documents/', 'reader', 'seller'),

  rule('license', 'reader', 'admin'),
  rule('people/', 'admin', 'admin'),
  // A list only grows by this; who asked a seller for no more mail must not wait for an admin.
  rule('suppression/import', 'admin', 'seller'),
  rule('suppression/add', 'admin', 'seller'),
  rule('suppression', 'admin', 'admin'),
  rule('suppression/', 'admin', 'admin'),
  rule('backups', 'admin', 'admin'),
  rule('backup/', 'admin', 'admin'),
  rule('model/', 'admin', 'admin'),
  // Drafts show the sender and whether mail is paused; passwords are never answered.
  rule('settings/mail', 'reader', 'admin'),
  rule('settings/', 'admin', 'admin'),
]

/** What a key with the scope `propose` may do besides reading: a person decides about all of it. */
const PROPOSALS = [
  'lead/quick_add',
  'lead/note',
  'draft/create',
  'sequence/create',
  'mission/compose',
]

export const isProposal = (method: string, path: string) =>
  method === 'POST' && PROPOSALS.includes(path)

const fits = ({ path }: Rule, asked: string) =>
  path.endsWith('/') ? asked.startsWith(path) : asked === path

/** The rule for a path without /api/cockpit/; undefined if none names it. */
export function ruleFor(path: string): Rule | undefined {
  return RULES.find((one) => fits(one, path))
}

/** The role that a request needs. */
export function roleFor(method: string, path: string): Role {
  const found = ruleFor(path)
  if (!found) return 'admin'
  return method === 'GET' || method === 'HEAD' ? found.read : found.write
}
