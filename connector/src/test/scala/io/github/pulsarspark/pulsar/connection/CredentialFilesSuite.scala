package io.github.pulsarspark.pulsar.connection

import java.nio.file.{Files, Path}

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.errors.PulsarError
import io.github.pulsarspark.options.registry.{CheckedOptions, Scope, Secret}
import io.github.pulsarspark.options.{Authentication, ClientOptions}

final class CredentialFilesSuite extends UnitSuite {

  private val Plugins = "org.apache.pulsar.client.impl.auth"

  test("files are found in every form of parameters") {
    val found = Seq(
      "file:///run/token"                                             -> Seq("/run/token"),
      "file:/run/a%20token"                                           -> Seq("/run/a token"),
      "token:file"                                                    -> Nil,
      "eyJhbGciOiJIUzI1NiJ9.e30.c2ln"                                 -> Nil,
      "tlsCertFile:/c.pem,tlsKeyFile:/k.pem"                          -> Seq("/c.pem", "/k.pem"),
      "keyStoreType:JKS,keyStorePath:/k.jks,keyStorePassword:p"       -> Seq("/k.jks"),
      """{"privateKey": "file:///k.json", "issuerUrl": "http://h"}""" -> Seq("/k.json"),
      """{"privateKey": "data:application/json;base64,e30="}"""       -> Nil,
      """{"tlsCertFile": "/c.pem", "n": 1}"""                         -> Seq("/c.pem"),
      "{no JSON"                                                      -> Nil
    )
    found.foreach { case (text, files) => assertEquals(CredentialFiles.in(text), files.map(Path.of(_)), text) }
  }

  test("a file without an end, and one that is missing, are refused, and not named") {
    val url   = Map("service.url" -> "pulsar://127.0.0.1:1", "topic" -> "t")
    val cases = Seq(
      Map("pulsar.client.authPluginClassName" -> s"$Plugins.AuthenticationToken",
        "pulsar.client.authParams" -> "file:///dev/zero") -> "pulsar.client.authParams",
      Map("auth.oauth2.issuerUrl" -> "http://127.0.0.1:1", "auth.oauth2.credentialsUrl" -> "file:///dev/zero") ->
        "auth.oauth2.credentialsUrl"
    )
    cases.foreach { case (more, option) =>
      val options = ClientOptions(CheckedOptions(url ++ more, Scope.BatchRead, ClientSettings.fields))
      assertEquals(problem(option)(ClientFactory(options)), "is no file")
      val admin = options.copy(adminAuthentication =
        Some(Authentication.Plugin(s"$Plugins.AuthenticationToken", Secret("file:eyJ0b2tlbg"))))
      assertEquals(problem("admin.auth.params")(ClientFactory.adminAuthentication(admin)),
        "does not exist on this machine")
    }
  }

  test("a token is read from the file of the parameters") {
    val file = Files.writeString(Files.createTempFile("token", ".txt"), "secret")
    CredentialFiles.check("pulsar.client.authParams", Secret(file.toUri.toString))
    Files.delete(file)
  }

  private def problem(option: String)(use: => Any): String = {
    val error = intercept[RuntimeException with PulsarError](use)
    assertEquals((error.condition, error.parameters("option")), ("PULSAR_FILE_UNREADABLE", option))
    assertEquals(error.parameters("file"), Secret.Mask)
    error.parameters("problem")
  }
}
