import { Kbd } from '../ui/badge.tsx'
import { useText } from '../ui/language.ts'
import { Dialog } from '../ui/layer.tsx'
import { PAGES } from './pages.ts'
import { shellText } from './shell.text.ts'

/** The keys of the console. */
export function KeysDialog({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const text = useText(shellText)
  const names = text.key_names
  const keys: [string[], string][] = [
    ...PAGES.map(({ name, key }): [string[], string] => [['g', key], names.go(text.pages[name])]),
    [['g', 'u'], names.go(text.account)],
    [['j'], names.next],
    [['k'], names.previous],
    [['e'], names.resolve],
    [['x'], names.select],
    [['Esc'], names.close],
    [['?'], names.help],
  ]
  return (
    <Dialog isOpen={isOpen} onClose={onClose} title={text.keys_title}>
      <dl className="grid grid-cols-[auto_1fr] items-center gap-x-6 gap-y-2">
        {keys.map(([pressed, name]) => (
          <div key={name} className="contents">
            <dt className="flex gap-1">
              {pressed.map((key) => (
                <Kbd key={key}>{key}</Kbd>
              ))}
            </dt>
            <dd>{name}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  )
}
