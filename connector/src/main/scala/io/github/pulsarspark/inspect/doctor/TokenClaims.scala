package io.github.pulsarspark.inspect.doctor

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.Path
import java.time.Instant
import java.util.Base64

import scala.util.Try

import com.fasterxml.jackson.databind.ObjectMapper

import io.github.pulsarspark.options.{Authentication, NamedFile}

/** Claims of a token (JWT) that are no secret: whose it is and when it ends. Its signature is not verified.
  *
  * @param option
  *   the option that has the token
  */
private[doctor] final case class TokenClaims(option: String, subject: Option[String], ends: Option[Instant])

private[doctor] object TokenClaims {

  /** The claims of the token of a login; None where the login has no token, or one of another form. */
  def of(login: Authentication): Option[TokenClaims] = login match {
    case Authentication.Token(token)    => parse("auth.token", token.reveal)
    case Authentication.TokenFile(path) => ofFile("auth.tokenFile", path)
    case Authentication.Plugin(name, parameters) if name.endsWith(".AuthenticationToken") =>
      parameters.reveal.trim match {
        case text if text.startsWith("file:") => ofFile(Plugin, text.stripPrefix("file:").replaceFirst("^//", ""))
        case text                             => parse(Plugin, text.stripPrefix("token:"))
      }
    case _ => None
  }

  private val Plugin = "pulsar.client.authParams"

  private def ofFile(option: String, path: String) =
    Try(NamedFile.bytes("auth.tokenFile", Path.of(path)).toOption).toOption.flatten.flatMap(bytes =>
      parse(option, new String(bytes, UTF_8))
    )

  private def parse(option: String, token: String): Option[TokenClaims] = token.trim.split('.') match {
    case Array(_, claims, _) =>
      Try(new ObjectMapper().readTree(Base64.getUrlDecoder.decode(claims))).toOption.filter(_.isObject).map { node =>
        val ends =
          Option(node.get("exp")).filter(_.isNumber).flatMap(e => Try(Instant.ofEpochSecond(e.asLong)).toOption)
        TokenClaims(option, Option(node.path("sub").textValue), ends)
      }
    case _ => None
  }
}
