/** Six facts in each of six languages, each with a question and a task, and small talk around them. */
export interface Language {
  /** What was said, a question about it, and a task that needs it. */
  facts: readonly (readonly [said: string, question: string, task: string])[];
  /** Exchanges about other things. `#` stands for a number. */
  talk: readonly (readonly [user: string, assistant: string])[];
}

export const LANGUAGES: Readonly<Record<string, Language>> = {
  English: {
    facts: [
      [
        'We keep the invoices in the archive in Oslo.',
        'Where are our invoices?',
        'Write to the accountant where the invoices are.',
      ],
      ['The new pier gets a red lamp.', 'Which lamp does the pier get?', 'Order the lamp for the pier.'],
      [
        "Ingrid's birthday is on the ninth of March.",
        'When is the birthday of Ingrid?',
        'Plan a party for the birthday of Ingrid.',
      ],
      [
        'The small ferry carries 47 cars.',
        'How many cars can the ferry carry?',
        'Calculate the trips of the ferry for 200 cars.',
      ],
      ['I am allergic to walnuts.', 'What am I allergic to?', 'Suggest a cake, and mind that I am allergic.'],
      [
        'My sister works as a baker in Lisbon.',
        'What does my sister do for a living?',
        'Draft a letter to my sister about her work.',
      ],
    ],
    talk: [
      ['It rained for # hours today, and I stayed inside.', 'Rain for # hours is a good reason to read a book.'],
      ['I watched episode # of the series last night.', 'How did you like episode #? Many find it slow.'],
      ['Can you explain to me what tides are, part #?', 'The tides follow the moon. Part # is about spring tides.'],
      ['I ran # kilometres this morning.', 'Well done! After # kilometres you should drink enough.'],
      ['The soup needs # minutes, says the recipe.', 'With # minutes the vegetables stay firm.'],
      ['The bus was # minutes late again.', 'That is annoying. Perhaps the traffic was heavy.'],
    ],
  },
  Chinese: {
    facts: [
      ['我们把发票存放在奥斯陆的档案室。', '我们的发票在哪里？', '写信告诉会计发票放在哪里。'],
      ['新码头要装一盏红灯。', '码头要装什么灯？', '为码头订购那盏灯。'],
      ['英格丽的生日是三月九日。', '英格丽的生日是什么时候？', '为英格丽的生日安排一个聚会。'],
      ['小渡轮可以载47辆汽车。', '渡轮可以载多少辆汽车？', '计算渡轮运200辆汽车要几趟。'],
      ['我对核桃过敏。', '我对什么过敏？', '推荐一个蛋糕，注意我过敏。'],
      ['我姐姐在里斯本当面包师。', '我姐姐做什么工作？', '给我姐姐起草一封信。'],
    ],
    talk: [
      ['今天下了#个小时的雨，我一直待在家里。', '下#个小时的雨，正好可以看书。'],
      ['昨晚我看了那部剧的第#集。', '第#集怎么样？很多人觉得节奏慢。'],
      ['你能给我讲讲潮汐吗，第#部分？', '潮汐跟着月亮走。第#部分讲大潮。'],
      ['今天早上我跑了#公里。', '真棒！跑完#公里要多喝水。'],
      ['菜谱说汤要煮#分钟。', '煮#分钟，蔬菜还是脆的。'],
      ['公交车又晚了#分钟。', '真烦人，也许是堵车了。'],
    ],
  },
  Thai: {
    facts: [
      ['เราเก็บใบแจ้งหนี้ไว้ในห้องเก็บเอกสารที่ออสโล', 'ใบแจ้งหนี้ของเราอยู่ที่ไหน', 'เขียนบอกนักบัญชีว่าใบแจ้งหนี้อยู่ที่ไหน'],
      ['ท่าเรือใหม่จะติดโคมไฟสีแดง', 'ท่าเรือจะติดโคมไฟแบบไหน', 'สั่งซื้อโคมไฟสำหรับท่าเรือ'],
      ['วันเกิดของอิงกริดคือวันที่เก้ามีนาคม', 'วันเกิดของอิงกริดคือเมื่อไร', 'วางแผนงานเลี้ยงวันเกิดให้อิงกริด'],
      ['เรือข้ามฟากลำเล็กบรรทุกรถยนต์ได้ 47 คัน', 'เรือข้ามฟากบรรทุกรถยนต์ได้กี่คัน', 'คำนวณเที่ยวเรือข้ามฟากสำหรับรถยนต์ 200 คัน'],
      ['ฉันแพ้ถั่ววอลนัต', 'ฉันแพ้อะไร', 'แนะนำขนมเค้ก โดยระวังว่าฉันแพ้ถั่ว'],
      ['พี่สาวของฉันเป็นคนทำขนมปังที่ลิสบอน', 'พี่สาวของฉันทำงานอะไร', 'ร่างจดหมายถึงพี่สาวของฉัน'],
    ],
    talk: [
      ['วันนี้ฝนตก # ชั่วโมง ฉันเลยอยู่บ้าน', 'ฝนตก # ชั่วโมงเหมาะกับการอ่านหนังสือ'],
      ['เมื่อคืนฉันดูละครตอนที่ #', 'ตอนที่ # เป็นอย่างไรบ้าง หลายคนบอกว่าช้า'],
      ['ช่วยอธิบายน้ำขึ้นน้ำลงส่วนที่ # ได้ไหม', 'น้ำขึ้นน้ำลงตามดวงจันทร์ ส่วนที่ # พูดถึงน้ำเกิด'],
      ['เช้านี้ฉันวิ่ง # กิโลเมตร', 'เก่งมาก หลัง # กิโลเมตรควรดื่มน้ำ'],
      ['สูตรบอกว่าซุปใช้เวลา # นาที', 'ถ้า # นาทีผักจะยังกรอบ'],
      ['รถเมล์มาสายอีกแล้ว # นาที', 'น่ารำคาญจริง รถอาจจะติด'],
    ],
  },
  Korean: {
    facts: [
      ['송장은 오슬로 기록실에 보관합니다.', '우리 송장이 어디에 있나요?', '회계사에게 송장이 어디 있는지 써 주세요.'],
      ['새 부두에는 빨간 등을 답니다.', '부두에 어떤 등을 달아요?', '부두의 등을 주문해 주세요.'],
      ['잉그리드의 생일은 삼월 구일입니다.', '잉그리드 생일이 언제예요?', '잉그리드 생일에 맞춰 잔치를 계획해 주세요.'],
      [
        '작은 여객선은 자동차 47대를 싣습니다.',
        '여객선에 자동차를 몇 대 실을 수 있나요?',
        '자동차 200대라면 여객선이 몇 번 가야 하는지 계산해 주세요.',
      ],
      [
        '저는 호두 알레르기가 있습니다.',
        '제가 무엇에 알레르기를 일으키나요?',
        '알레르기를 생각해서 케이크를 추천해 주세요.',
      ],
      ['누나는 리스본에서 제빵사로 일합니다.', '우리 누나의 직업이 뭐예요?', '누나에게 보낼 편지를 써 주세요.'],
    ],
    talk: [
      ['오늘 #시간 동안 비가 와서 집에 있었어요.', '비가 #시간 오면 책 읽기에 좋지요.'],
      ['어젯밤에 드라마 #화를 봤어요.', '#화는 어땠나요? 느리다는 사람이 많아요.'],
      ['밀물과 썰물의 #부를 설명해 줄래요?', '밀물은 달을 따릅니다. #부는 사리 이야기입니다.'],
      ['오늘 아침에 #킬로미터를 뛰었어요.', '대단해요. #킬로미터 뒤에는 물을 드세요.'],
      ['요리책에는 국을 #분 끓이라고 해요.', '#분이면 채소가 아직 단단해요.'],
      ['버스가 또 #분 늦었어요.', '답답하네요. 길이 막혔나 봐요.'],
    ],
  },
  Turkish: {
    facts: [
      [
        "Faturaları Oslo'daki arşivde saklıyoruz.",
        'Faturalarımız nerede?',
        'Muhasebeciye faturaların nerede olduğunu yaz.',
      ],
      [
        'Yeni iskeleye kırmızı bir lamba takılacak.',
        'İskelenin lambası hangi renk?',
        'İskele için lambayı sipariş et.',
      ],
      [
        "Ingrid'in doğum günü dokuz martta.",
        "Ingrid'in doğum gününü ne zaman kutluyoruz?",
        "Ingrid'in doğum gününe bir parti planla.",
      ],
      ['Küçük feribot 47 araba taşıyor.', 'Feribota kaç araba sığar?', '200 araba için feribotun seferlerini hesapla.'],
      ['Cevize alerjim var.', 'Neye karşı alerjiğim?', 'Alerjimi düşünerek bir pasta öner.'],
      [
        "Kız kardeşim Lizbon'da fırıncı olarak çalışıyor.",
        'Kız kardeşimin işi ne?',
        'Kız kardeşime bir mektup hazırla.',
      ],
    ],
    talk: [
      ['Bugün # saat yağmur yağdı, evde kaldım.', '# saat yağmur okumak için iyi bir bahane.'],
      ['Dün gece dizinin #. bölümünü izledim.', '#. bölüm nasıldı? Çoğu kişi yavaş buluyor.'],
      ['Gelgiti anlatır mısın, kısım #?', 'Gelgit ayı izler. Kısım # büyük gelgitle ilgili.'],
      ['Bu sabah # kilometre koştum.', 'Harika! # kilometreden sonra su içmelisin.'],
      ['Tarifte çorba # dakika diyor.', '# dakikada sebzeler diri kalır.'],
      ['Otobüs yine # dakika gecikti.', 'Can sıkıcı. Belki trafik vardı.'],
    ],
  },
  Arabic: {
    facts: [
      ['نحتفظ بالفواتير في الأرشيف في أوسلو.', 'أين فواتيرنا؟', 'اكتب إلى المحاسب أين الفواتير.'],
      ['الرصيف الجديد سيحصل على مصباح أحمر.', 'ما لون مصباح الرصيف؟', 'اطلب مصباحا للرصيف.'],
      ['عيد ميلاد إنغريد في التاسع من مارس.', 'متى عيد ميلاد إنغريد؟', 'خطط لحفلة عيد ميلاد إنغريد.'],
      ['العبارة الصغيرة تحمل 47 سيارة.', 'كم سيارة تتسع لها العبارة؟', 'احسب رحلات العبارة لنقل 200 سيارة.'],
      ['عندي حساسية من الجوز.', 'ما هي حساسيتي؟', 'اقترح كعكة تناسب حساسيتي.'],
      ['أختي تعمل خبازة في لشبونة.', 'ما عمل أختي؟', 'اكتب رسالة إلى أختي عن عملها.'],
    ],
    talk: [
      ['أمطرت اليوم # ساعات فبقيت في البيت.', '# ساعات من المطر سبب جيد للقراءة.'],
      ['شاهدت أمس الحلقة # من المسلسل.', 'كيف كانت الحلقة #؟ كثيرون يجدونها بطيئة.'],
      ['هل تشرح لي المد والجزر، الجزء #؟', 'المد يتبع القمر. الجزء # عن المد العالي.'],
      ['ركضت هذا الصباح # كيلومترات.', 'رائع! بعد # كيلومترات اشرب الماء.'],
      ['تقول الوصفة إن الحساء يحتاج # دقيقة.', 'في # دقيقة تبقى الخضار متماسكة.'],
      ['تأخرت الحافلة مرة أخرى # دقيقة.', 'هذا مزعج. ربما كان الزحام شديدا.'],
    ],
  },
};
