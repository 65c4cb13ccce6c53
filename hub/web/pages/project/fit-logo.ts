import { dataUrlOf } from '../../logo-input.tsx'

/** What the hub takes for a logo that each mail carries, in characters of a data: URL. */
const MAX_LENGTH = 40_000
/** Twice the width in which mails show it, for sharp screens; half of that if it must be. */
const WIDTHS = [280, 210, 140]
const QUALITIES = [0.9, 0.75, 0.5]

/**
 * fitLogo returns a PNG or JPEG as a data: URL that a mail can carry, made smaller if needed.
 * Rejects a file that is no picture.
 */
export async function fitLogo(file: File): Promise<string> {
  const url = await dataUrlOf(file)
  const picture = new Image()
  picture.src = url
  await picture.decode()
  const isTaken = /^data:image\/(png|jpeg);/.test(url)
  if (isTaken && url.length <= MAX_LENGTH) return url
  let smallest = url
  for (const width of WIDTHS) {
    const canvas = drawn(picture, width)
    const tries = [
      canvas.toDataURL('image/png'),
      ...QUALITIES.map((quality) => onWhite(canvas).toDataURL('image/jpeg', quality)),
    ]
    for (const one of tries) {
      if (one.length <= MAX_LENGTH) return one
      smallest = one
    }
  }
  return smallest
}

function drawn(picture: HTMLImageElement, width: number): HTMLCanvasElement {
  const canvas = document.createElement('canvas')
  const scale = Math.min(1, width / picture.naturalWidth, width / picture.naturalHeight)
  canvas.width = Math.max(1, Math.round(picture.naturalWidth * scale))
  canvas.height = Math.max(1, Math.round(picture.naturalHeight * scale))
  canvas.getContext('2d')?.drawImage(picture, 0, 0, canvas.width, canvas.height)
  return canvas
}

/** A JPEG has no transparency: what is transparent would be black. */
function onWhite(source: HTMLCanvasElement): HTMLCanvasElement {
  const canvas = document.createElement('canvas')
  canvas.width = source.width
  canvas.height = source.height
  const context = canvas.getContext('2d')
  if (!context) return source
  context.fillStyle = '#ffffff'
  context.fillRect(0, 0, canvas.width, canvas.height)
  context.drawImage(source, 0, 0)
  return canvas
}
