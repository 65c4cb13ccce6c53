import { type Agent, COMMON } from './agent.ts'
import { patchMission } from './engineering/engineering.ts'

const FOLDER = 'code/'

/** Code for the project as a patch file in its folder, which only the owner may apply. */
export const engineer: Agent = {
  name: 'engineer',
  role: { en: 'Writes code as a patch file', tr: 'Kodu yama dosyası olarak yazar' },
  variables: COMMON,
  budget: { steps: 16, tokens: 40_000 },
  steps: (context) =>
    patchMission(context, {
      agent: 'engineer',
      below: FOLDER,
      most: 150,
      tree: {
        list: async () => (await context.list('code')).map((path) => path.slice(FOLDER.length)),
        read: (path) => context.read(`${FOLDER}${path}`),
      },
    }),
}
