package io.github.pulsarspark.inspect.doctor

import java.util.Base64

import io.github.pulsarspark.fuzz.TextFuzzTarget
import io.github.pulsarspark.options.Authentication
import io.github.pulsarspark.options.registry.Secret

/** Tokens of a login, whose claims a diagnosis shows. An input is the claims, before base64. */
object TokenFuzz extends TextFuzzTarget {
  override def texts: Seq[String] = Seq("{\"sub\":\"admin\",\"exp\":1900000000}", "{\"sub\":null,\"exp\":1e9}")

  override def decode(text: String): Any = {
    val claims = Base64.getUrlEncoder.withoutPadding.encodeToString(text.getBytes("UTF-8"))
    Seq(s"a.$claims.b", text).map(token => TokenClaims.of(Authentication.Token(Secret(token))))
  }
}
