import { relative } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** The order of the projects: first those with long files, so that the run ends with short ones. */
const PROJECTS = ['browser', 'node-alone', 'node', 'workerd', 'deno']

/** Files that take long for their size, the longest first: none of them may run alone at the end. */
const LONG = [
  'tests/scripts/start.test.ts',
  'tests/hub/web/settings.test.ts',
  'tests/hub/web/drafts.test.ts',
  'tests/supabase/deploy.test.ts',
  'tests/scripts/deploy-cloudflare.test.ts',
  'tests/hub/reader/web-reader-browser.attack.test.ts',
  'tests/runtimes/drain.test.ts',
  'tests/hub/web/pages.test.ts',
  'tests/web/adverse.test.ts',
  'tests/web/console.test.ts',
  'tests/hub/missions/missions-tiny.test.ts',
  'tests/web/map.test.ts',
  'tests/functions/jobs/faults/crash.test.ts',
  'tests/functions/jobs/preview.test.ts',
  'tests/stories/tuning.test.ts',
  'tests/functions/tenants.test.ts',
  'tests/hub/web/leads.test.ts',
  'tests/sql/plans.test.ts',
  'tests/hub/model/model.test.ts',
  'tests/hub/web/missions.test.ts',
  'tests/scripts/admin.test.ts',
  'tests/hub/mail/drafts/drafts-steps.test.ts',
  'tests/hub/web/wizard.test.ts',
  'tests/hub/missions/missions-kill.test.ts',
  'tests/scripts/postgres.test.ts',
  'tests/runtimes/outside.test.ts',
  'tests/hub/mail/reports.attack.test.ts',
  'tests/hub/cli.test.ts',
  'tests/stories/blind.test.ts',
  'tests/functions/api/http/refusals.test.ts',
  'tests/runtimes/refused.test.ts',
  'tests/functions/history.attack.test.ts',
  'tests/functions/postgres/pooler.test.ts',
  'tests/scripts/backup/restore.test.ts',
  'tests/scripts/backup/cli.test.ts',
  'tests/hub/backup/backup-kill.test.ts',
  'tests/functions/jobs/faults/faults.test.ts',
  'tests/functions/changes.test.ts',
  'tests/scripts/admin-accounts.test.ts',
  'tests/hub/web/board.test.ts',
  'tests/scripts/check-schema.test.ts',
  'tests/hub/mail/drafts/mail-flow.test.ts',
  'tests/hub/mail/drafts/mail-refusals.test.ts',
  'tests/supabase/push.test.ts',
  'tests/stories/acts.test.ts',
  'tests/hub/mail/drafts/listmonk-rules.test.ts',
  'tests/hub/mail/drafts/mail-flow-listmonk.test.ts',
  'tests/functions/mail/confirmation.test.ts',
  'tests/web/account.test.ts',
  'tests/hub/mail/drafts/mail-flow-kill.test.ts',
]

/** Starts long files first; a clone that has run the tests before knows better how long each takes. */
export default class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const projectOf = ({ project }: TestSpecification) => PROJECTS.indexOf(project.name)
    const placeOf = ({ moduleId }: TestSpecification) => {
      const at = LONG.indexOf(relative(this.ctx.config.root, moduleId))
      return at === -1 ? LONG.length : at
    }
    return sorted.toSorted((a, b) => projectOf(a) - projectOf(b) || placeOf(a) - placeOf(b))
  }
}
