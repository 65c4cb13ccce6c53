/** Questions about people and what is theirs, and what the tests of them change in the world before they ask. */
import { afterAll, beforeAll } from 'vitest'
import { type Case, createQuestions } from '../questions.ts'

export let questions: Awaited<ReturnType<typeof createQuestions>>

/** Has the tests of this file ask in a world of their own. */
export function useQuestions(): void {
  beforeAll(async () => {
    questions = await createQuestions()
  })
  afterAll(() => questions?.close())
}

/** Compares what cases answer with golden/<name>.txt. */
export const agree = (name: string, cases: Case[]) => questions.agree(name, cases)

/** The id of somebody or of an organisation, in SQL. */
export const id = (name: string) => `'${questions.world.ids[name]}'::uuid`

/** What follows is done with all triggers. */
export const REAL = 'set local session_replication_role = origin;'

/** What follows is done by this person, signed in. */
export const by = (who: string, claims: object = {}) => {
  const all = {
    sub: questions.world.ids[who],
    signed_in: true,
    scopes: ['read', 'write'],
    ...claims,
  }
  return `${REAL} select set_config('request.jwt.claims', '${JSON.stringify(all)}', true);`
}

/** Makes pg_temp.outcome, which says what becomes of a statement: done, or the code and words of its refusal. */
export const OUTCOME = `create function pg_temp.outcome(p_statement text) returns text language plpgsql as $$
  begin
    execute p_statement;
    return 'done';
  exception when others then
    return sqlstate || ' ' || sqlerrm;
  end $$;`

/** A case: what becomes of a statement after what is prepared without triggers. */
export const outcome = (about: string, statement: string, prepared = '', who = REAL): Case => [
  about,
  `select pg_temp.outcome($statement$${statement}$statement$)`,
  `${OUTCOME} ${prepared}; ${who}`,
]

/** Has a plan allow so many of everything: what each allows is in golden/limits.txt. */
export const allow = (
  count: number,
) => `create or replace function private.plan_limit(p_plan text, p_thing text)
  returns integer language sql immutable as 'select ${count} * case p_plan when ''enterprise'' then 10 else 1 end';`
