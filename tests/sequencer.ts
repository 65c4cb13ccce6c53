import { relative } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** The order of the projects: first those with long files, so that the run ends with short ones. */
const PROJECTS = ['browser', 'node-alone', 'node', 'workerd', 'deno']

/** Files that take long for their size, the longest first: none of them may run alone at the end. */
const LONG = [
  'tests/functions/jobs/preview.test.ts',
  'tests/supabase/deploy.test.ts',
  'tests/hub/web/settings.test.ts',
  'tests/runtimes/drain.test.ts',
  'tests/functions/jobs/crash.test.ts',
  'tests/scripts/start.test.ts',
  'tests/functions/tenants.test.ts',
  'tests/sql/plans.test.ts',
  'tests/hub/web/drafts.test.ts',
  'tests/hub/web/pages.test.ts',
  'tests/hub/missions/missions-kill.test.ts',
  'tests/scripts/deploy-cloudflare.test.ts',
  'tests/hub/web/leads.test.ts',
  'tests/hub/missions/missions-tiny.test.ts',
  'tests/hub/reader/web-reader-browser.attack.test.ts',
  'tests/runtimes/outside.test.ts',
  'tests/stories/tuning.test.ts',
  'tests/scripts/admin.test.ts',
  'tests/hub/web/missions.test.ts',
  'tests/scripts/backup/restore.test.ts',
  'tests/hub/backup/backup-kill.test.ts',
  'tests/stories/blind.test.ts',
  'tests/hub/model/model.test.ts',
  'tests/functions/api/refusals.test.ts',
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
