import { texts } from '../../../shared/words/texts.ts'

export const escalationText = texts(
  {
    title: 'If nobody acknowledges an alert',
    none: 'No steps: only the channels above are told, once.',
    add: 'Add step',
    most: (count: number) => `A zone has at most ${count} steps.`,
    step: (nr: number) => `Step ${nr}`,
    remove: (nr: number) => `Remove step ${nr}`,
    after: 'After so many minutes',
    channels: 'Also tell',
    gone: (id: string) => `A channel that you do not see (${id})`,
    silences: {
      no_channel: 'This step tells nobody: choose a channel.',
      no_receiver:
        'This step tells nobody: each of its channels is off, not confirmed or deleted, or takes no new alerts.',
    },
  },
  {
    title: 'Uyarıyı kimse onaylamazsa',
    none: 'Adım yok: yalnızca yukarıdaki kanallara, bir kez bildirilir.',
    add: 'Adım ekle',
    most: (count: number) => `Bir bölgenin en çok ${count} adımı olabilir.`,
    step: (nr: number) => `${nr}. adım`,
    remove: (nr: number) => `${nr}. adımı kaldır`,
    after: 'Kaç dakika sonra',
    channels: 'Şunlara da bildir',
    gone: (id: string) => `Göremediğiniz bir kanal (${id})`,
    silences: {
      no_channel: 'Bu adım kimseye bildirmez: bir kanal seçin.',
      no_receiver:
        'Bu adım kimseye bildirmez: kanallarının her biri kapalı, onaylanmamış ya da silinmiş veya yeni uyarı almıyor.',
    },
  },
)
