"use strict";

// The access token lives in the field at the top and, until the tab closes, in the session's storage.
const form = document.getElementById("session");
const field = document.getElementById("token");
const who = document.getElementById("who");
const storageKey = "circle.accessToken";

function setToken(token, message) {
  field.value = token;
  if (token) sessionStorage.setItem(storageKey, token);
  else sessionStorage.removeItem(storageKey);
  who.textContent = message;
}

setToken(sessionStorage.getItem(storageKey) || "", "");
field.addEventListener("change", () => setToken(field.value.trim(), ""));
form.addEventListener("submit", (event) => event.preventDefault());
form.addEventListener("reset", (event) => {
  event.preventDefault();
  setToken("", "Logged out here.");
});

// learn takes the token out of the answer of signUp, logIn and refreshSession.
function learn(answer) {
  for (const payload of Object.values(answer.data || {})) {
    const session = payload && payload.session;
    if (session && session.accessToken) {
      setToken(session.accessToken, session.player ? "Logged in as " + session.player.name + "." : "Logged in.");
    }
  }
}

// fetcher sends an operation; an Authorization header written in the headers editor goes first.
async function fetcher(params, options) {
  const headers = { "Content-Type": "application/json" };
  const token = field.value;
  if (token) headers.Authorization = "Bearer " + token;
  const response = await fetch("graphql", {
    method: "POST",
    headers: { ...headers, ...(options && options.headers) },
    body: JSON.stringify(params),
  });
  const answer = await response.json();
  // A token that has run out refuses everything, logging in too.
  if (response.status === 401 && token) setToken("", "The access token no longer held. Log in again.");
  if (params.operationName !== "IntrospectionQuery") learn(answer);
  return answer;
}

const tabs = examples.map((example) => ({
  query: example.query,
  variables: JSON.stringify(example.variables, null, 2),
}));

// On the first visit the first tab's variables have to be given apart; later the browser has them.
const variables = localStorage.getItem("graphiql:tabState") ? undefined : tabs[0].variables;

ReactDOM.createRoot(document.getElementById("graphiql")).render(
  React.createElement(GraphiQL, {
    fetcher,
    defaultTabs: tabs,
    variables,
    defaultEditorToolsVisibility: "variables",
    shouldPersistHeaders: false,
  }),
);
