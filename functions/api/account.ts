import { z } from 'zod'
import { invalid } from '../../shared/problem.ts'
import { createRoute, jsonBody, jsonResponse, resource, respond } from '../../shared/route.ts'
import { Account, AccountDelete } from '../../shared/schemas/account.ts'
import { authenticate, signedIn } from '../auth.ts'
import type { Env } from '../context.ts'
import { sessionProblems } from '../http.ts'
import { read, write } from '../transaction.ts'
import { accountExport } from './account/account-export.ts'
import { accountInvites } from './account/account-invites.ts'
import { accountKeys } from './account/account-keys.ts'
import { accountOrgs } from './account/account-orgs.ts'
import { accountOf, readAccount } from './account/account-state.ts'

const One = z.object({ account: Account })
/** Deleting a large account takes longer than the usual statement timeout. */
const DELETE_TIMEOUT = '120s'

/** The account routes: they require a session and work on any plan. */
export const account = resource<Env>()
account.route('/keys', accountKeys)
account.route('/orgs', accountOrgs)
account.route('/invites', accountInvites)
account.route('/export', accountExport)

account.openapi(
  createRoute({
    method: 'get',
    path: '/',
    operationId: 'getAccount',
    tags: ['Account'],
    summary: 'Get the account: who is signed in, the limits of the plan and the current usage',
    security: [{ session: [] }],
    middleware: signedIn('read'),
    responses: { 200: jsonResponse(One, 'The account.'), ...sessionProblems() },
  }),
  async (c) => {
    const facts = await read(c, readAccount)
    return respond(c, One, { account: accountOf(c, facts) }, 200)
  },
)

account.openapi(
  createRoute({
    method: 'delete',
    path: '/',
    operationId: 'deleteAccount',
    tags: ['Account'],
    summary: 'Delete the account and everything it owns, immediately and permanently',
    description:
      'Zones and channels shared with an organisation pass to its owner. Transfer or delete your own ' +
      'organisations first. Your actions stay in the audit logs of others under a pseudonym.',
    security: [{ session: [] }],
    middleware: signedIn('write'),
    request: { body: jsonBody(AccountDelete) },
    responses: { 204: { description: 'Deleted.' }, ...sessionProblems(409, 413, 415, 422) },
  }),
  async (c) => {
    const { confirm } = c.req.valid('json')
    const { email } = await authenticate(c)
    if (confirm.toLowerCase() !== email.toLowerCase()) {
      const message = 'Must be the email address of the account that you are signed in with.'
      throw invalid([{ path: 'confirm', code: 'mismatch', message }])
    }
    await write(c, (sql, last) =>
      last(
        Promise.all([
          sql`select set_config('statement_timeout', ${DELETE_TIMEOUT}, true)`,
          sql`select private.delete_account()`,
        ]),
      ),
    )
    return c.body(null, 204)
  },
)
