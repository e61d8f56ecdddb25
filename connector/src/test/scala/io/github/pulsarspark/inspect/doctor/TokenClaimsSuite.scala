package io.github.pulsarspark.inspect.doctor

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.Files
import java.time.Instant
import java.util.Base64

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.options.Authentication
import io.github.pulsarspark.options.registry.Secret

class TokenClaimsSuite extends UnitSuite {

  private def encoded(text: String) = Base64.getUrlEncoder.withoutPadding.encodeToString(text.getBytes(UTF_8))

  private def token(claims: String) = s"${encoded("""{"alg":"HS256"}""")}.${encoded(claims)}.signature"

  private val full = token("""{"sub":"etl","exp":1800000000}""")

  private def plugin(parameters: String) = TokenClaims.of(
    Authentication.Plugin("org.apache.pulsar.client.impl.auth.AuthenticationToken", Secret(parameters))
  )

  test("role and end of a token, wherever it is") {
    def claims(option: String) = Some(TokenClaims(option, Some("etl"), Some(Instant.ofEpochSecond(1800000000L))))
    val file                   = Files.createTempFile("token", "")
    Files.writeString(file, s"$full\n")
    assertEquals(TokenClaims.of(Authentication.Token(Secret(full))), claims("auth.token"))
    assertEquals(TokenClaims.of(Authentication.TokenFile(file.toString)), claims("auth.tokenFile"))
    assertEquals(plugin(s"token:$full"), claims("pulsar.client.authParams"))
    assertEquals(plugin(full), claims("pulsar.client.authParams"))
    assertEquals(plugin(s"file://$file"), claims("pulsar.client.authParams"))
  }

  test("claims may be missing, and what is no token has none") {
    assertEquals(TokenClaims.of(Authentication.Token(Secret(token("{}")))), Some(TokenClaims("auth.token", None, None)))
    Seq("", "a.b", "a.b.c", "a.b.c.d", token("[]"), token("not JSON")).foreach(text =>
      assertEquals(TokenClaims.of(Authentication.Token(Secret(text))), None, text)
    )
    assertEquals(TokenClaims.of(Authentication.TokenFile("/no/such/file")), None)
    assertEquals(TokenClaims.of(Authentication.TokenFile("no\u0000path")), None)
    assertEquals(TokenClaims.of(Authentication.None), None)
  }

  test("an end that no clock reaches is none") {
    for (end <- Seq("1e300", "-1e300", Long.MaxValue.toString))
      assertEquals(
        TokenClaims.of(Authentication.Token(Secret(token(s"{\"sub\":\"etl\",\"exp\":$end}")))),
        Some(TokenClaims("auth.token", Some("etl"), None))
      )
  }

  test("the text of the claims does not contain the token") {
    assert(!TokenClaims.of(Authentication.Token(Secret(full))).toString.contains("signature"))
  }
}
