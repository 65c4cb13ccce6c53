import { ImageUp, Trash2 } from 'lucide-react'
import { useRef } from 'react'
import { Button } from '../../web/ui/button.tsx'

/** Chooses a picture file; `logo` says whether there is one to remove. */
export function LogoInput(props: {
  words: { logo: string; choose: string; remove: string }
  hasLogo: boolean
  onChoose: (file: File) => void
  onRemove: () => void
}) {
  const { words, hasLogo, onChoose, onRemove } = props
  const file = useRef<HTMLInputElement>(null)
  return (
    <div className="flex flex-wrap gap-2">
      <input
        ref={file}
        type="file"
        accept="image/png,image/jpeg"
        className="sr-only"
        tabIndex={-1}
        aria-label={words.logo}
        onChange={(event) => {
          const chosen = event.target.files?.[0]
          // The same file can be chosen again after it was removed.
          event.target.value = ''
          if (chosen) onChoose(chosen)
        }}
      />
      <Button icon={<ImageUp size={14} aria-hidden />} onClick={() => file.current?.click()}>
        {words.choose}
      </Button>
      {hasLogo ? (
        <Button variant="ghost" icon={<Trash2 size={14} aria-hidden />} onClick={onRemove}>
          {words.remove}
        </Button>
      ) : null}
    </div>
  )
}

/** A file as a data: URL. */
export function dataUrlOf(file: Blob): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.onload = () => resolve(String(reader.result))
    reader.onerror = () => reject(reader.error)
    reader.readAsDataURL(file)
  })
}
