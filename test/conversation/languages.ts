/** Twelve facts in each of eleven languages, each with a question and a task, and small talk around them. */
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
      [
        'We decided to use Postgres as the database.',
        'Which database did we choose?',
        'Set up the database that we decided on.',
      ],
      [
        'The key of the crane hangs behind the atlas.',
        'Where does the key of the crane hang?',
        'Tell Tom how to get the crane key.',
      ],
      [
        'The roof may cost at most twelve thousand euros.',
        'What may the roof cost?',
        'Negotiate the price of the roof.',
      ],
      ['Our dog from the shelter is called Bruno.', 'What is our dog called?', 'Make a sign with the name of our dog.'],
      [
        'The dentist has an appointment for me on Thursday at four.',
        'When do I have to see the dentist?',
        'Remind me of the dentist.',
      ],
      [
        'The rehearsals of the choir are now in the gym.',
        'Where does the choir rehearse now?',
        'Invite everybody to the rehearsal of the choir.',
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
  German: {
    facts: [
      [
        'Wir bewahren die Rechnungen im Archiv in Oslo auf.',
        'Wo sind unsere Rechnungen?',
        'Schreib dem Buchhalter, wo die Rechnungen liegen.',
      ],
      ['Der neue Steg bekommt eine rote Lampe.', 'Welche Lampe bekommt der Steg?', 'Bestelle die Lampe für den Steg.'],
      [
        'Ingrid hat am neunten März Geburtstag.',
        'Wann hat Ingrid Geburtstag?',
        'Plane eine Feier zum Geburtstag von Ingrid.',
      ],
      [
        'Die kleine Fähre fasst 47 Autos.',
        'Wie viele Autos fasst die Fähre?',
        'Berechne die Fahrten der Fähre für 200 Autos.',
      ],
      [
        'Ich bin allergisch gegen Walnüsse.',
        'Wogegen bin ich allergisch?',
        'Schlag einen Kuchen vor, ich bin ja allergisch.',
      ],
      [
        'Meine Schwester arbeitet als Bäckerin in Lissabon.',
        'Was macht meine Schwester beruflich?',
        'Entwirf einen Brief an meine Schwester.',
      ],
      [
        'Wir haben uns für Postgres als Datenbank entschieden.',
        'Welche Datenbank haben wir gewählt?',
        'Richte die Datenbank ein.',
      ],
      [
        'Der Schlüssel vom Kran hängt hinter dem Atlas.',
        'Wo hängt der Schlüssel vom Kran?',
        'Erklär Tom, wie er an den Schlüssel für den Kran kommt.',
      ],
      [
        'Das Dach darf höchstens zwölftausend Euro kosten.',
        'Was darf das Dach kosten?',
        'Verhandle den Preis für das Dach.',
      ],
      [
        'Unser Hund aus dem Tierheim heißt Bruno.',
        'Wie heißt unser Hund?',
        'Mach ein Schild mit dem Namen für unseren Hund.',
      ],
      [
        'Beim Zahnarzt habe ich am Donnerstag um vier einen Termin.',
        'Wann muss ich zum Zahnarzt?',
        'Erinnere mich an den Zahnarzt.',
      ],
      ['Der Chor probt jetzt in der Turnhalle.', 'Wo probt der Chor jetzt?', 'Lade alle zur Probe vom Chor ein.'],
    ],
    talk: [
      ['Heute hat es # Stunden geregnet, ich blieb drinnen.', '# Stunden Regen sind ein guter Grund zum Lesen.'],
      ['Gestern habe ich Folge # der Serie gesehen.', 'Wie fandest du Folge #? Viele finden sie langsam.'],
      ['Kannst du mir Gezeiten erklären, Teil #?', 'Die Gezeiten folgen dem Mond. Teil # handelt von Springfluten.'],
      ['Ich bin heute früh # Kilometer gelaufen.', 'Sehr gut! Nach # Kilometern solltest du genug trinken.'],
      ['Die Suppe braucht # Minuten, sagt das Rezept.', 'Mit # Minuten bleibt das Gemüse fest.'],
      ['Der Bus kam wieder # Minuten zu spät.', 'Das ist ärgerlich. Vielleicht war viel Verkehr.'],
    ],
  },
  French: {
    facts: [
      [
        'Nous gardons les factures aux archives à Oslo.',
        'Où sont nos factures ?',
        'Écris au comptable où se trouvent les factures.',
      ],
      [
        'La nouvelle jetée reçoit une lampe rouge.',
        'Quelle lampe reçoit la jetée ?',
        'Commande la lampe pour la jetée.',
      ],
      [
        "L'anniversaire d'Ingrid est le neuf mars.",
        "Quand est l'anniversaire d'Ingrid ?",
        "Prépare une fête pour l'anniversaire d'Ingrid.",
      ],
      [
        'Le petit bac transporte 47 voitures.',
        'Combien de voitures transporte le bac ?',
        'Calcule les trajets du bac pour 200 voitures.',
      ],
      ['Je suis allergique aux noix.', 'À quoi suis-je allergique ?', 'Propose un gâteau, je suis allergique.'],
      [
        'Ma sœur travaille comme boulangère à Lisbonne.',
        'Que fait ma sœur dans la vie ?',
        'Rédige une lettre à ma sœur.',
      ],
      [
        'Nous avons choisi Postgres comme base de données.',
        'Quelle base de données avons-nous choisie ?',
        'Installe la base de données.',
      ],
      [
        "La clé de la grue est accrochée derrière l'atlas.",
        'Où est accrochée la clé de la grue ?',
        'Explique à Tom où prendre la clé de la grue.',
      ],
      ['Le toit peut coûter au plus douze mille euros.', 'Combien peut coûter le toit ?', 'Négocie le prix du toit.'],
      [
        "Notre chien du refuge s'appelle Bruno.",
        "Comment s'appelle notre chien ?",
        'Fais un panneau avec le nom de notre chien.',
      ],
      [
        'Le dentiste me reçoit jeudi à quatre heures.',
        'Quand dois-je aller chez le dentiste ?',
        'Rappelle-moi le dentiste.',
      ],
      [
        'La chorale répète maintenant au gymnase.',
        'Où répète la chorale maintenant ?',
        'Invite tout le monde à la chorale.',
      ],
    ],
    talk: [
      ["Il a plu # heures aujourd'hui, je suis resté à l'intérieur.", '# heures de pluie, une bonne raison de lire.'],
      ["J'ai vu l'épisode # de la série hier soir.", "As-tu aimé l'épisode # ? Beaucoup le trouvent lent."],
      [
        "Peux-tu m'expliquer les marées, partie # ?",
        'Les marées suivent la lune. La partie # traite des grandes marées.',
      ],
      ["J'ai couru # kilomètres ce matin.", 'Bravo ! Après # kilomètres il faut boire.'],
      ['La soupe demande # minutes, dit la recette.', 'Avec # minutes les légumes restent fermes.'],
      ['Le bus avait encore # minutes de retard.', "C'est agaçant. La circulation était peut-être dense."],
    ],
  },
  Spanish: {
    facts: [
      [
        'Guardamos las facturas en el archivo de Oslo.',
        '¿Dónde están nuestras facturas?',
        'Escribe al contable dónde están las facturas.',
      ],
      ['El nuevo muelle recibe una lámpara roja.', '¿Qué lámpara recibe el muelle?', 'Pide la lámpara para el muelle.'],
      [
        'El cumpleaños de Ingrid es el nueve de marzo.',
        '¿Cuándo es el cumpleaños de Ingrid?',
        'Prepara una fiesta para el cumpleaños de Ingrid.',
      ],
      [
        'El transbordador pequeño lleva 47 coches.',
        '¿Cuántos coches lleva el transbordador?',
        'Calcula los viajes del transbordador para 200 coches.',
      ],
      ['Soy alérgico a las nueces.', '¿A qué soy alérgico?', 'Propón un pastel, que soy alérgico.'],
      ['Mi hermana trabaja de panadera en Lisboa.', '¿A qué se dedica mi hermana?', 'Redacta una carta a mi hermana.'],
      ['Hemos elegido Postgres como base de datos.', '¿Qué base de datos elegimos?', 'Instala la base de datos.'],
      [
        'La llave de la grúa cuelga detrás del atlas.',
        '¿Dónde cuelga la llave de la grúa?',
        'Explica a Tom dónde está la llave de la grúa.',
      ],
      [
        'El tejado puede costar como máximo doce mil euros.',
        '¿Cuánto puede costar el tejado?',
        'Negocia el precio del tejado.',
      ],
      [
        'Nuestro perro del refugio se llama Bruno.',
        '¿Cómo se llama nuestro perro?',
        'Haz un cartel con el nombre de nuestro perro.',
      ],
      [
        'El dentista me espera el jueves a las cuatro.',
        '¿Cuándo tengo que ir al dentista?',
        'Recuérdame lo del dentista.',
      ],
      ['El coro ensaya ahora en el gimnasio.', '¿Dónde ensaya el coro ahora?', 'Invita a todos al ensayo del coro.'],
    ],
    talk: [
      ['Hoy llovió # horas y me quedé en casa.', '# horas de lluvia son una buena razón para leer.'],
      ['Anoche vi el episodio # de la serie.', '¿Te gustó el episodio #? Muchos lo encuentran lento.'],
      ['¿Puedes explicarme las mareas, parte #?', 'Las mareas siguen a la luna. La parte # trata de las mareas vivas.'],
      ['Esta mañana corrí # kilómetros.', '¡Muy bien! Después de # kilómetros hay que beber.'],
      ['La sopa necesita # minutos, dice la receta.', 'Con # minutos las verduras quedan firmes.'],
      ['El autobús llegó otra vez # minutos tarde.', 'Qué molesto. Quizás había mucho tráfico.'],
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
      ['我们决定用Postgres做数据库。', '我们选了哪个数据库？', '请安装我们决定的数据库。'],
      ['起重机的钥匙挂在地图册后面。', '起重机的钥匙挂在哪里？', '告诉汤姆怎么拿起重机的钥匙。'],
      ['屋顶最多可以花一万二千欧元。', '屋顶可以花多少钱？', '去谈一下屋顶的价格。'],
      ['我们从收容所领养的狗叫布鲁诺。', '我们的狗叫什么名字？', '给我们的狗做一个名牌。'],
      ['牙医约我星期四下午四点。', '我什么时候要去看牙医？', '提醒我去看牙医。'],
      ['合唱团现在在体育馆排练。', '合唱团现在在哪里排练？', '邀请大家参加合唱团的活动。'],
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
  Japanese: {
    facts: [
      [
        '請求書はオスロの書庫に保管しています。',
        '請求書はどこにありますか？',
        '請求書の場所を会計士に書いてください。',
      ],
      [
        '新しい桟橋には赤いランプを付けます。',
        '桟橋にはどんなランプを付けますか？',
        '桟橋のランプを注文してください。',
      ],
      [
        'イングリッドの誕生日は三月九日です。',
        'イングリッドの誕生日はいつですか？',
        'イングリッドの誕生日の会を計画してください。',
      ],
      [
        '小さいフェリーには車が47台乗ります。',
        'フェリーには車が何台乗りますか？',
        '車200台でフェリーが何往復か計算してください。',
      ],
      [
        '私はクルミにアレルギーがあります。',
        '私は何にアレルギーがありますか？',
        'アレルギーに気をつけてケーキを提案してください。',
      ],
      ['姉はリスボンでパン職人をしています。', '姉は何の仕事をしていますか？', '姉への手紙を下書きしてください。'],
      [
        'データベースはPostgresに決めました。',
        'どのデータベースに決めましたか？',
        '決めたデータベースを設定してください。',
      ],
      [
        'クレーンの鍵は地図帳の裏に掛けてあります。',
        'クレーンの鍵はどこに掛けてありますか？',
        'トムにクレーンの鍵の取り方を教えてください。',
      ],
      ['屋根の費用は最大で一万二千ユーロです。', '屋根の費用はいくらまでですか？', '屋根の値段を交渉してください。'],
      ['保護施設から来た犬の名前はブルーノです。', 'うちの犬の名前は何ですか？', '犬の名前で札を作ってください。'],
      ['歯医者の予約は木曜日の四時です。', '歯医者の予約はいつですか？', '歯医者を忘れないように知らせてください。'],
      [
        '合唱団は今、体育館で練習しています。',
        '合唱団は今どこで練習していますか？',
        '合唱団の練習にみんなを招待してください。',
      ],
    ],
    talk: [
      ['今日は#時間も雨が降って、家にいました。', '#時間の雨なら、本を読むのにいいですね。'],
      ['昨夜ドラマの第#話を見ました。', '第#話はどうでしたか。遅いという人が多いです。'],
      ['潮の満ち引きの第#部を説明できますか。', '潮は月に従います。第#部は大潮の話です。'],
      ['今朝は#キロ走りました。', 'すごいですね。#キロの後は水を飲みましょう。'],
      ['レシピではスープは#分です。', '#分なら野菜は固いままです。'],
      ['バスがまた#分遅れました。', 'それは困りますね。渋滞だったのでしょう。'],
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
      ['เราตัดสินใจใช้ Postgres เป็นฐานข้อมูล', 'เราเลือกฐานข้อมูลอะไร', 'ติดตั้งฐานข้อมูลที่เราตัดสินใจเลือก'],
      ['กุญแจปั้นจั่นแขวนอยู่หลังสมุดแผนที่', 'กุญแจปั้นจั่นแขวนอยู่ที่ไหน', 'บอกทอมว่าจะหยิบกุญแจปั้นจั่นอย่างไร'],
      ['หลังคาใช้เงินได้ไม่เกินหนึ่งหมื่นสองพันยูโร', 'หลังคาใช้เงินได้เท่าไร', 'ต่อรองราคาหลังคา'],
      ['สุนัขของเราจากสถานสงเคราะห์ชื่อบรูโน', 'สุนัขของเราชื่ออะไร', 'ทำป้ายชื่อให้สุนัขของเรา'],
      ['ทันตแพทย์นัดฉันวันพฤหัสบดีตอนสี่โมง', 'ฉันต้องไปหาทันตแพทย์เมื่อไร', 'เตือนฉันเรื่องทันตแพทย์'],
      ['คณะนักร้องประสานเสียงซ้อมที่โรงยิมแล้ว', 'คณะนักร้องประสานเสียงซ้อมที่ไหน', 'เชิญทุกคนมาซ้อมกับคณะนักร้องประสานเสียง'],
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
      [
        '데이터베이스는 포스트그레스로 정했습니다.',
        '어떤 데이터베이스를 골랐나요?',
        '정한 데이터베이스를 설치해 주세요.',
      ],
      [
        '기중기 열쇠는 지도책 뒤에 걸려 있습니다.',
        '기중기의 열쇠가 어디에 걸려 있나요?',
        '톰에게 기중기 열쇠를 찾는 법을 알려 주세요.',
      ],
      [
        '지붕에는 최대 만이천 유로까지 쓸 수 있습니다.',
        '지붕은 얼마까지 들어도 되나요?',
        '지붕의 가격을 협상해 주세요.',
      ],
      ['보호소에서 온 강아지 이름은 브루노입니다.', '우리 강아지의 이름이 뭐예요?', '강아지의 이름표를 만들어 주세요.'],
      ['치과 예약은 목요일 네 시입니다.', '치과에 언제 가야 하나요?', '치과를 잊지 않게 알려 주세요.'],
      [
        '합창단은 이제 체육관에서 연습합니다.',
        '합창단이 지금 어디에서 연습하나요?',
        '합창단의 연습에 모두를 초대해 주세요.',
      ],
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
      ["Veritabanı olarak Postgres'e karar verdik.", 'Hangi veritabanını seçtik?', 'Seçtiğimiz veritabanını kur.'],
      [
        'Vincin anahtarı atlasın arkasında asılı.',
        'Vinç anahtarları nerede?',
        "Tom'a vincin anahtarını nasıl alacağını anlat.",
      ],
      [
        'Çatı en fazla on iki bin avroya mal olabilir.',
        'Çatının maliyeti ne kadar olabilir?',
        'Çatının fiyatını pazarlık et.',
      ],
      ['Barınaktan gelen köpeğimizin adı Bruno.', 'Köpeğin adı ne?', 'Köpeğimiz için bir isim levhası yap.'],
      ['Dişçi randevum perşembe saat dörtte.', 'Dişçiye ne zaman gitmem gerekiyor?', 'Dişçiyi bana hatırlat.'],
      ['Koro artık spor salonunda prova yapıyor.', 'Koronun provaları nerede?', 'Herkesi koronun provasına davet et.'],
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
  Finnish: {
    facts: [
      [
        'Laskut säilytetään Oslon arkistossa.',
        'Missä meidän laskumme ovat?',
        'Kirjoita kirjanpitäjälle, missä laskuja säilytetään.',
      ],
      ['Uuteen laituriin tulee punainen lamppu.', 'Millainen lamppu laiturille tulee?', 'Tilaa laiturin lamppu.'],
      [
        'Ingridin syntymäpäivä on yhdeksäs maaliskuuta.',
        'Milloin Ingrid viettää syntymäpäiväänsä?',
        'Suunnittele juhlat Ingridin syntymäpäiväksi.',
      ],
      ['Pieni lautta kuljettaa 47 autoa.', 'Montako autoa lautalle mahtuu?', 'Laske lautan matkat 200 autolle.'],
      ['Olen allerginen saksanpähkinöille.', 'Mille minulla on allergia?', 'Ehdota kakkua, mutta muista allergiani.'],
      ['Siskoni työskentelee leipurina Lissabonissa.', 'Mitä siskoni tekee työkseen?', 'Luonnostele kirje siskolleni.'],
      [
        'Päätimme käyttää tietokantana Postgresia.',
        'Minkä tietokannan valitsimme?',
        'Asenna tietokanta, josta päätimme.',
      ],
      [
        'Nosturin avain roikkuu kartaston takana.',
        'Missä nosturien avaimet ovat?',
        'Kerro Tomille, mistä nosturin avaimen saa.',
      ],
      [
        'Katto saa maksaa enintään kaksitoistatuhatta euroa.',
        'Paljonko katolle saa tulla hintaa?',
        'Neuvottele kattomme hinnasta.',
      ],
      ['Löytökodista tullut koiramme on nimeltään Bruno.', 'Mikä meidän koiran nimi on?', 'Tee kyltti koiralle.'],
      [
        'Hammaslääkärin aika on torstaina neljältä.',
        'Milloin minun pitää mennä hammaslääkäriin?',
        'Muistuta minua hammaslääkäristä.',
      ],
      [
        'Kuoro harjoittelee nykyään liikuntasalissa.',
        'Missä kuoron harjoitukset ovat?',
        'Kutsu kaikki kuoron harjoituksiin.',
      ],
    ],
    talk: [
      ['Tänään satoi # tuntia, joten pysyin kotona.', '# tuntia sadetta on hyvä syy lukea.'],
      ['Katsoin eilen illalla sarjan jakson #.', 'Millainen jakso # oli? Moni pitää sitä hitaana.'],
      ['Voitko selittää vuoroveden, osa #?', 'Vuorovesi seuraa kuuta. Osa # kertoo tulvavuoksesta.'],
      ['Juoksin tänä aamuna # kilometriä.', 'Hienoa! # kilometrin jälkeen pitää juoda vettä.'],
      ['Ohjeen mukaan keitto vaatii # minuuttia.', '# minuutissa vihannekset jäävät napakoiksi.'],
      ['Bussi oli taas # minuuttia myöhässä.', 'Harmillista. Ehkä oli ruuhkaa.'],
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
      ['قررنا استخدام بوستغرس كقاعدة بيانات.', 'ما هي قاعدة البيانات التي قررناها؟', 'جهز قاعدة البيانات.'],
      ['مفتاح الرافعة معلق خلف الأطلس.', 'أين مفتاح الرافعة؟', 'اشرح لتوم كيف يجد مفتاح الرافعة.'],
      ['تكلفة السقف اثنا عشر ألف يورو على الأكثر.', 'كم تكلفة سقفنا؟', 'تفاوض على سعر السقف.'],
      ['كلبنا من الملجأ اسمه برونو.', 'ما اسم الكلب؟', 'اصنع لوحة باسم كلبنا.'],
      ['موعد طبيب الأسنان يوم الخميس في الرابعة.', 'متى موعدي عند طبيب الأسنان؟', 'ذكرني بطبيب الأسنان.'],
      ['الجوقة تتدرب الآن في الصالة الرياضية.', 'أين تتدرب الجوقة؟', 'ادع الجميع إلى تدريب الجوقة.'],
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
