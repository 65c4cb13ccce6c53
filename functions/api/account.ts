import { z } from 'zod'
import { Account, AccountDelete } from '../../shared/account.ts'
import { invalid } from '../../shared/problem.ts'
import { answer, body, createRoute, json, resource } from '../../shared/route.ts'
import { authenticate, signedIn } from '../auth.ts'
import type { Env } from '../context.ts'
import { personProblems } from '../http.ts'
import { read, write } from '../transaction.ts'
import { accountExport } from './account-export.ts'
import { accountInvites } from './account-invites.ts'
import { accountKeys } from './account-keys.ts'
import { accountOrgs } from './account-orgs.ts'
import { accountOf, readAccount } from './account-state.ts'

const One = z.object({ account: Account })
/** A large account takes longer than a request usually may. */
const DELETE_TIMEOUT = '120s'

/** What people do themselves, signed in and on any plan. */
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
    summary: 'Who is signed in, what the plan allows, and what there is',
    security: [{ session: [] }],
    middleware: signedIn('read'),
    responses: { 200: json(One, 'The account.'), ...personProblems() },
  }),
  async (c) => {
    const facts = await read(c, readAccount)
    return answer(c, One, { account: accountOf(c, facts) }, 200)
  },
)

account.openapi(
  createRoute({
    method: 'delete',
    path: '/',
    operationId: 'deleteAccount',
    tags: ['Account'],
    summary: 'Delete the account and everything it owns, at once and for good',
    description:
      'Zones and channels shared with an organisation pass to its owner. Organisations one owns are ' +
      'transferred or deleted first. What one did stays in the audit log of others under a pseudonym.',
    security: [{ session: [] }],
    middleware: signedIn('write'),
    request: { body: body(AccountDelete) },
    responses: { 204: { description: 'It is gone.' }, ...personProblems(409, 413, 415, 422) },
  }),
  async (c) => {
    const { confirm } = c.req.valid('json')
    const { email } = await authenticate(c)
    if (confirm.toLowerCase() !== email.toLowerCase()) {
      const message = 'This is not the address of the account you are signed in with.'
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
