import { texts } from '../shared/texts.ts'

/** What every page of the console says. */
export const common = texts(
  {
    ui: {
      close: 'Close',
      retry: 'Try again',
      copy: 'Copy',
      copied: 'Copied',
      dismiss: 'Dismiss',
      optional: 'optional',
      request_id: 'Request',
      loading: 'Loading',
      more: 'More',
      show: 'Show',
      hide: 'Hide',
    },
    failed: {
      title: 'This could not be loaded',
      unreachable: 'The service does not answer. What you see may be out of date.',
      unknown: 'Something went wrong in this page. Reload it.',
    },
    show_more: 'Show more',
    save: 'Save',
    undo: 'Undo',
  },
  {
    ui: {
      close: 'Kapat',
      retry: 'Yeniden dene',
      copy: 'Kopyala',
      copied: 'Kopyalandı',
      dismiss: 'Kapat',
      optional: 'isteğe bağlı',
      request_id: 'İstek',
      loading: 'Yükleniyor',
      more: 'Diğer',
      show: 'Göster',
      hide: 'Gizle',
    },
    failed: {
      title: 'Bu içerik yüklenemedi',
      unreachable: 'Hizmet yanıt vermiyor. Gördükleriniz güncel olmayabilir.',
      unknown: 'Bu sayfada bir hata oluştu. Sayfayı yeniden yükleyin.',
    },
    show_more: 'Daha fazla göster',
    save: 'Kaydet',
    undo: 'Geri al',
  },
)
