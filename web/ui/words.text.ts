import { texts } from '../../shared/words/texts.ts'

/** What the components of both interfaces say. */
export const wordsText = texts(
  {
    close: 'Close',
    retry: 'Try again',
    copy: 'Copy',
    copied: 'Copied',
    dismiss: 'Dismiss',
    optional: 'optional',
    request_id: 'Request',
    loading: 'Loading',
    more: 'Show more',
    show: 'Show',
    hide: 'Hide',
    undo: 'Undo',
    stale: 'Part of this page could not be loaded again. What you see may be out of date.',
  },
  {
    close: 'Kapat',
    retry: 'Yeniden dene',
    copy: 'Kopyala',
    copied: 'Kopyalandı',
    dismiss: 'Kapat',
    optional: 'isteğe bağlı',
    request_id: 'İstek',
    loading: 'Yükleniyor',
    more: 'Daha fazla göster',
    show: 'Göster',
    hide: 'Gizle',
    undo: 'Geri al',
    stale: 'Bu sayfanın bir bölümü yeniden yüklenemedi. Gördükleriniz güncel olmayabilir.',
  },
)
