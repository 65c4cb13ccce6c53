import { texts } from '../shared/words/texts.ts'

/** What every page of the console says. */
export const common = texts(
  {
    failed: {
      title: 'This could not be loaded',
      unreachable: 'The service does not answer. What you see may be out of date.',
      unknown: 'Something went wrong in this page. Reload it.',
    },
    save: 'Save',
  },
  {
    failed: {
      title: 'Bu içerik yüklenemedi',
      unreachable: 'Hizmet yanıt vermiyor. Gördükleriniz güncel olmayabilir.',
      unknown: 'Bu sayfada bir hata oluştu. Sayfayı yeniden yükleyin.',
    },
    save: 'Kaydet',
  },
)
