// Without its fonts: the reader's own are there at once, and in every language.
import theme from 'vitepress/theme-without-fonts';
import './site.css';

export default theme;
