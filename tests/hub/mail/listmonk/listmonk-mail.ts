export const PRICES =
  'Prices are {{ .Secret }} & <script>alert("{{ 1 }}")</script><textarea> < 5, https://d.example/@TrackLink'

export const mail = {
  template: 'letter' as const,
  slots: {
    subject: 'A question, {first_name}',
    preheader: 'About the heating',
    greeting: 'Hello {first_name}',
    paragraphs: [PRICES],
    closing: 'Best regards',
  },
  signature: ['Ayşe Demir'],
  branding: { name: 'Demir' },
  footer: { postal_address: 'Demir Ltd, Izmir', reason: 'You asked us at the fair.' },
  lang: 'en' as const,
}

/** Reads until what is read is as it should be. */
export async function until<T>(read: () => Promise<T>, holds: (value: T) => boolean): Promise<T> {
  for (let tries = 0; ; tries += 1) {
    const value = await read()
    if (holds(value)) return value
    if (tries > 200) throw new Error(`It did not come to that: ${JSON.stringify(value)}`)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}
