import { texts } from '../../shared/words/texts.ts'

export const signInText = texts(
  {
    title: 'Sign in to Watchpost',
    intro: 'This link works once, and only for a short time.',
    sign_in: 'Sign in',
    used: 'This link was used before, or its time is over. Whoever runs the service makes a new one with:',
    failed: 'The service did not answer as it should. Try again.',
    unreachable: 'The service cannot be reached. Try again.',
  },
  {
    title: 'Watchpost’ta oturum açın',
    intro: 'Bu bağlantı bir kez ve kısa bir süre çalışır.',
    sign_in: 'Oturum aç',
    used: 'Bu bağlantı daha önce kullanıldı ya da süresi doldu. Yenisini hizmeti işleten kişi şu komutla oluşturur:',
    failed: 'Hizmet beklenen yanıtı vermedi. Yeniden deneyin.',
    unreachable: 'Hizmete ulaşılamıyor. Yeniden deneyin.',
  },
)
