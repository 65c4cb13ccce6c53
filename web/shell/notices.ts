import { useSyncExternalStore } from 'react'

/** How else than on the page this browser tells of a new alert; both are off until somebody wants them. */
type Notices = { notify: boolean; sound: boolean }

const KEY = 'watchpost.notices'
const listeners = new Set<() => void>()
let current = read()

function read(): Notices {
  const names = (localStorage.getItem(KEY) ?? '').split(' ')
  return { notify: names.includes('notify'), sound: names.includes('sound') }
}

export function setNotice(name: keyof Notices, isOn: boolean): void {
  current = { ...current, [name]: isOn }
  const on = (['notify', 'sound'] as const).filter((one) => current[one])
  localStorage.setItem(KEY, on.join(' '))
  for (const listener of listeners) listener()
}

export function useNotices(): Notices {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    () => current,
  )
}

/** allowNotices asks the browser for its permission. */
export async function allowNotices(): Promise<boolean> {
  if (!('Notification' in window)) return false
  return (await Notification.requestPermission()) === 'granted'
}

/** notice tells of an alert as the reader wants it; a notification only while nobody looks at the page. */
export function notice(title: string, { tag, onOpen }: { tag: string; onOpen: () => void }): void {
  if (current.sound) tone()
  const isAllowed = 'Notification' in window && Notification.permission === 'granted'
  if (!current.notify || !isAllowed || document.visibilityState === 'visible') return
  const shown = new Notification(title, { tag, icon: './icon.svg' })
  shown.onclick = () => {
    window.focus()
    onOpen()
    shown.close()
  }
}

/** Two short notes. A browser that was not touched yet stays silent. */
function tone(): void {
  const context = new AudioContext()
  for (const [at, pitch] of [
    [0, 660],
    [0.16, 880],
  ] as const) {
    const note = context.createOscillator()
    const volume = context.createGain()
    note.frequency.value = pitch
    volume.gain.setValueAtTime(0.12, context.currentTime + at)
    volume.gain.exponentialRampToValueAtTime(0.001, context.currentTime + at + 0.3)
    note.connect(volume).connect(context.destination)
    note.start(context.currentTime + at)
    note.stop(context.currentTime + at + 0.3)
  }
  setTimeout(() => void context.close(), 1_000)
}
