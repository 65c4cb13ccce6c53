import { Kbd } from '../../../web/ui/badge.tsx'
import { MOD } from '../../../web/ui/keys.ts'
import { useLanguage, useText } from '../../../web/ui/language.ts'
import { Dialog } from '../../../web/ui/layer.tsx'
import { HUB_PAGES, PROJECT_PAGES } from '../pages.tsx'
import { shellText } from './shell.text.ts'

/** The list of all shortcuts, opened with `?`. */
export function Shortcuts({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const text = useText(shellText).shortcuts
  const language = useLanguage()
  const groups: [string, [string[], string][]][] = [
    [
      text.anywhere,
      [
        [[MOD, 'K'], text.search],
        [['?'], text.help],
        ...[...PROJECT_PAGES, ...HUB_PAGES].map(({ key, label }): [string[], string] => [
          ['g', key],
          text.go(label(language)),
        ]),
      ],
    ],
    [
      text.in_lists,
      [
        [['j'], text.down],
        [['k'], text.up],
        [['↵'], text.open],
        [['x'], text.select],
        [['c'], text.create],
        [['Esc'], text.close],
      ],
    ],
    [
      text.on_approvals,
      [
        [['a'], text.approve],
        [['s'], text.approve_and_send],
        [['e'], text.edit_or_handle],
        [['r'], text.reject],
      ],
    ],
    [
      text.on_board,
      [
        [['Space'], text.pick_up],
        [['←', '→', '↑', '↓'], text.move],
      ],
    ],
  ]
  return (
    <Dialog isOpen={isOpen} onClose={onClose} title={text.title} size="md">
      <div className="grid gap-x-10 gap-y-6 md:grid-cols-2">
        {groups.map(([name, keys]) => (
          <section key={name}>
            <h3 className="mb-2 text-sm text-muted">{name}</h3>
            <dl className="flex flex-col">
              {keys.map(([combination, meaning]) => (
                <div key={meaning} className="flex h-8 items-center justify-between gap-4">
                  <dt className="truncate">{meaning}</dt>
                  <dd className="flex shrink-0 gap-1">
                    {combination.map((key) => (
                      <Kbd key={key}>{key}</Kbd>
                    ))}
                  </dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Dialog>
  )
}
